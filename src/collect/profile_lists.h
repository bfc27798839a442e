/* SPDX-License-Identifier: BSD-2-Clause */
/* Of the profile of a run: sizes of allocations and copies, copies made again, errors nobody asked about. */
#ifndef COLLECT_PROFILE_LISTS_H
#define COLLECT_PROFILE_LISTS_H

#include "collect/reading.h"

struct profile;
struct thread_profile;

/* Empties the lists before they are read anew. */
void profile_lists__clear(struct profile *profile);

/* Each adds an element of its map to a list of its process (reading_step.take). */
int profile_lists__take_size(struct reading *reading, struct process *process, const void *key, const void *value);
int profile_lists__take_copies(struct reading *reading, struct process *process, const void *key, const void *value);
int profile_lists__take_repeat(struct reading *reading, struct process *process, const void *key, const void *value);
int profile_lists__take_ignored(struct reading *reading, struct process *process, const void *key, const void *value);
int profile_lists__take_mapped(struct reading *reading, struct process *process, const void *key, const void *value);

/* Adds the error that is pending in a thread, if launches came after it. Returns 0 or -ENOMEM. */
int profile_lists__add_pending(struct profile *profile, const struct thread_profile *thread);

/* Brings the lists into the order that model/profile.h says, once they are complete. */
void profile_lists__sort(struct profile *profile);

#endif
