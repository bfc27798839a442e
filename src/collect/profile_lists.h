/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of a run's profile: sizes of allocations, sizes of copies, repeated copies, ignored errors,
 * and copies of mapped files.
 */
#ifndef COLLECT_PROFILE_LISTS_H
#define COLLECT_PROFILE_LISTS_H

#include "collect/reading.h"

struct profile;
struct thread_profile;

/* Empties the lists before they are read anew. */
void profile_lists__clear(struct profile *profile);

/* Each adds an element of its map to its process's list (reading_step.take). */
int profile_lists__take_size(struct reading *reading, struct process *process, const void *key,
			     const void *value);
int profile_lists__take_copies(struct reading *reading, struct process *process, const void *key,
			       const void *value);
int profile_lists__take_repeat(struct reading *reading, struct process *process, const void *key,
			       const void *value);
int profile_lists__take_ignored(struct reading *reading, struct process *process, const void *key,
				const void *value);
int profile_lists__take_mapped(struct reading *reading, struct process *process, const void *key,
			       const void *value);

/* Adds the thread's pending error if launches followed it. Returns 0 or -ENOMEM. */
int profile_lists__add_pending(struct profile *profile, const struct thread_profile *thread);

/* Sorts the complete lists as model/profile.h says. */
void profile_lists__sort(struct profile *profile);

#endif
