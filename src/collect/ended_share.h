/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Room for ended processes, which are kept until reports and scrapers have seen them. Where all of them take too much
 * memory, those of the user who has most of it leave first, so that one user's do not crowd out another's.
 */
#ifndef COLLECT_ENDED_SHARE_H
#define COLLECT_ENDED_SHARE_H

#include "model/profile.h"
#include "model/model.h"

/* Where reports or pages show the ended ones soon. */
#define ENDED_BYTES_MAX ((size_t)16 << 20)

/*
 * With profiles, which one report shows at the end: room for so many full ones besides, each of ACCOUNT_ENDED_KEPT
 * threads and as many functions, 195 MiB in all.
 */
#define ENDED_ACCOUNTS 64
#define ENDED_ACCOUNTS_BYTES_MAX \
	(ENDED_BYTES_MAX + \
	 ENDED_ACCOUNTS * ACCOUNT_ENDED_KEPT * (sizeof(struct thread_profile) + sizeof(struct profile_function)))

/*
 * Chooses who is to leave, so that what has ended and has no slot any more takes `bytes_max` at most, and calls `fn`
 * for each, `index` in model->processes. Of one user those go first whom reports and pages have shown, then those that
 * ended first. Returns 0, or -ENOMEM where nobody was chosen.
 */
int ended_share__each_beyond(const struct model *model, size_t bytes_max, void (*fn)(size_t index, void *arg), void *arg);

#endif
