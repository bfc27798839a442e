/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Room for ended processes, which are kept until reports and scrapers have seen them. Where all of them take too much
 * memory, those of the user who has most of it leave first, so that one user's do not crowd out another's.
 */
#ifndef COLLECT_ENDED_SHARE_H
#define COLLECT_ENDED_SHARE_H

#include "model/model.h"

#define ENDED_BYTES_MAX ((size_t)16 << 20)

/*
 * Chooses who is to leave, so that what has ended and has no slot any more takes ENDED_BYTES_MAX at most, and calls `fn`
 * for each, `index` in model->processes. Of one user those go first whom reports and pages have shown, then those that
 * ended first. Returns 0, or -ENOMEM where nobody was chosen.
 */
int ended_share__each_beyond(const struct model *model, void (*fn)(size_t index, void *arg), void *arg);

#endif
