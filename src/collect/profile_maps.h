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

/*
 * Fills struct process's `profile` anew for each process that still has its slot, and gives the
 * places of threads that have ended free. Returns 0 or a negative errno. Does nothing where no
 * profile is kept.
 */
int profile_maps__read(struct reading *reading);

/* Draws up what follows from it, once the time in calls in progress is in it (open_calls.h). Returns 0 or -ENOMEM. */
int profile_maps__finish(struct reading *reading);

/*
 * Lists the stacks of what was read, also of processes that have ended. Those that have been told are to be
 * named by then (site_maps__list), and none until the model has been used. Returns 0 or -ENOMEM.
 */
int profile_maps__list_stacks(const struct reading *reading);

/* Frees the places of processes that are done with in this reading; before their keys are deleted (ended_keys.h). */
void profile_maps__release(struct reading *reading);

#endif
