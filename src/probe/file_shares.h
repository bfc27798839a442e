/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What users' programs may take of what all files share that get probes: room for them (descriptors, memory of the kernel)
 * and the time in which files are looked at that nobody has looked at yet.
 *
 * A user may have as many files as there is room left: one user has half of the room at most, two have a third each, and
 * something is left for the next. Time is a credit, of a second at first, that comes back a tenth as fast as it is used.
 */
#ifndef PROBE_FILE_SHARES_H
#define PROBE_FILE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file_shares;

/* Room for so many files. NULL without memory. */
struct file_shares *file_shares__new(size_t room);
void file_shares__free(struct file_shares *shares);

/* Whether one more file of the user's may have probes. */
bool file_shares__have_room(const struct file_shares *shares, uid_t user);

/* A file has its probes, or with -1 has them no more. Without memory it is counted for all users alone. */
void file_shares__count(struct file_shares *shares, uid_t user, int sign);

/* The user's files took so long. */
void file_shares__charge(struct file_shares *shares, uid_t user, uint64_t ns, uint64_t now_ns);

/* When the user has credit again, by the clock of `now_ns`; no later than that if there is some. */
uint64_t file_shares__ready_ns(const struct file_shares *shares, uid_t user, uint64_t now_ns);

#endif
