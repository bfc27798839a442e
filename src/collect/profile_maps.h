/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the profile of a run (gpuprobe/profile.h) from the BPF maps into the model. */
#ifndef COLLECT_PROFILE_MAPS_H
#define COLLECT_PROFILE_MAPS_H

#include "base/error.h"
#include "collect/reading.h"

struct profile_maps;

/* Maps what BPF shares with userspace. Returns 0 or a negative errno with a message. */
int profile_maps__new(const struct gpuprobe_bpf *skeleton, struct profile_maps **out, struct error *err);
void profile_maps__free(struct profile_maps *maps);

/* The steps of readings WITH_ACCOUNT. They return 0 or a negative errno. */

/* Begins struct process's `profile` anew for each process that still has its slot. */
int profile_maps__begin(struct reading *reading);

/*
 * Adds to the list of ignored errors those pending in ended threads whose own end was not seen: BPF
 * has added the others'.
 */
int profile_maps__add_pending(struct reading *reading);

/* Adds the threads, and frees the places of those that have ended. */
int profile_maps__read_threads(struct reading *reading);

/* Adds a function with its durations (reading_step.take). */
int profile_maps__take_duration(struct reading *reading, struct process *process, const void *key, const void *value);

/* Draws up what follows from it, once the time in calls in progress is in it (open_calls.h). Returns 0 or -ENOMEM. */
int profile_maps__finish(struct reading *reading);

/*
 * Lists the stacks of what was read, also of ended processes. For readings WITH_STACKS, too: once
 * site_maps__name_stacks has named those that BPF has sent, and before any other is named.
 */
int profile_maps__list_stacks(struct reading *reading);

/* Frees the places of processes that are done with in this reading; before their keys are deleted (ended_keys.h). */
void profile_maps__release(struct reading *reading);

#endif
