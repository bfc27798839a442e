/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits what each user's programs may take of two resources that all probed files share: room
 * (descriptors, kernel memory) and the time to scan new files.
 *
 * A user may have as many files as there is room left: one user gets at most half of the room, two
 * get a third each, and something is left for the next. Time is a credit of initially one second,
 * which comes back at a tenth of the rate at which it is used.
 */
#ifndef PROBE_FILE_SHARES_H
#define PROBE_FILE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_shares;

/* `room` is the number of files. Returns NULL if out of memory. */
struct file_shares *file_shares__new(size_t room);
void file_shares__free(struct file_shares *shares);

/* Whether one more file of the user's may have probes. */
bool file_shares__have_room(const struct file_shares *shares, uid_t user);

/*
 * Counts a file that got probes; `sign` -1: a file that lost them. Without memory it only counts in
 * the total.
 */
void file_shares__count(struct file_shares *shares, uid_t user, int sign);

/* Charges the user for time spent on their files. */
void file_shares__charge(struct file_shares *shares, uid_t user, uint64_t ns, uint64_t now_ns);

/*
 * When the user has credit again, by the clock of `now_ns`; `now_ns` or earlier if they have some.
 */
uint64_t file_shares__ready_ns(const struct file_shares *shares, uid_t user, uint64_t now_ns);

#endif
