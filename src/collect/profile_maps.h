/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the profile of a run (gpuprobe/profile.h) from the BPF maps into the model. */
#ifndef COLLECT_PROFILE_MAPS_H
#define COLLECT_PROFILE_MAPS_H

#include "base/error.h"
#include "collect/reading.h"

struct profile_maps;

/* Maps the memory that BPF shares with userspace. Returns 0 or a negative errno with a message. */
int profile_maps__new(const struct gpuprobe_bpf *skeleton, struct profile_maps **out,
		      struct error *err);
void profile_maps__free(struct profile_maps *maps);

/* The steps of readings WITH_PROFILE. They return 0 or a negative errno. */

/* Resets struct process's `profile` for each process that still has its slot. */
int profile_maps__begin(struct reading *reading);

/*
 * Adds the errors pending in ended threads to the list of ignored errors, if the threads' end was
 * not seen: BPF has added the others'.
 */
int profile_maps__add_pending(struct reading *reading);

/* Adds the threads, and frees the counter slots of ended ones. */
int profile_maps__read_threads(struct reading *reading);

/* Adds a function with its durations (reading_step.take). */
int profile_maps__take_duration(struct reading *reading, struct process *process, const void *key,
				const void *value);

/*
 * Completes the profile from what was read, once the time in calls in progress was added
 * (open_calls.h). Returns 0 or -ENOMEM.
 */
int profile_maps__finish(struct reading *reading);

/*
 * Lists the stacks of what was read, also of ended processes. For readings that are also
 * WITH_STACKS: after site_maps__name_stacks has named the stacks that BPF has sent, and before any
 * other stack is named.
 */
int profile_maps__list_stacks(struct reading *reading);

/*
 * Frees the records of processes that this reading reaps, before their keys are deleted
 * (ended_keys.h).
 */
void profile_maps__release(struct reading *reading);

#endif
