/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Room for ended processes, which are kept until reports and scrapers have seen them. If all of
 * them take too much memory, processes of the user with the most leave first, so that one user's do
 * not crowd out another's.
 */
#ifndef COLLECT_ENDED_SHARE_H
#define COLLECT_ENDED_SHARE_H

#include "model/profile.h"
#include "model/model.h"

/* Limit if reports or metrics pages soon show the ended processes. */
#define ENDED_BYTES_MAX ((size_t)16 << 20)

/*
 * Limit with profiles, which a single report shows at the end: room for this many full profiles in
 * addition, each with PROFILE_ENDED_KEPT threads and as many functions, 195 MiB in all.
 */
#define ENDED_PROFILES 64
#define ENDED_PROFILES_BYTES_MAX \
	(ENDED_BYTES_MAX + \
	 ENDED_PROFILES * PROFILE_ENDED_KEPT * \
		 (sizeof(struct thread_profile) + sizeof(struct profile_function)))

/*
 * Chooses the ended processes that leave, so that those without a slot take at most `bytes_max`,
 * and calls `fn` for each with its index in model->processes. Of one user, processes that reports
 * and pages have shown leave first, then those that ended first. Returns 0, or -ENOMEM if none were
 * chosen.
 */
int ended_share__each_beyond(const struct model *model, size_t bytes_max,
			     void (*fn)(size_t index, void *arg), void *arg);

#endif
