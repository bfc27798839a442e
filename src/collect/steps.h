/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what threads submit over and over (gpuprobe/steps.h) into the model,
 * and tells BPF which anchors end steps. An anchor is looked for in what a
 * thread has submitted; where it does not come any more while launches go on,
 * or was found in too short a beginning, again. Steps from before it was known
 * are counted too, as far as their submissions are kept.
 */
#ifndef COLLECT_STEPS_H
#define COLLECT_STEPS_H

#include "base/error.h"
#include "collect/reading.h"

struct gpuprobe_bpf;
struct steps;

/* Of an object that outlives it, loaded with steps. Returns 0 or a negative errno with a message. */
int steps__new(const struct gpuprobe_bpf *skeleton, struct steps **out, struct error *err);
void steps__free(struct steps *steps);

/*
 * Brings struct process's `steps` up to date, and gives the records of threads that have ended free.
 * Returns 0 or a negative errno. Does nothing where no steps are looked for.
 */
int steps__read(struct reading *reading);

/*
 * A thread has submitted much, and no step of it is known: looks at those of which that is so, before what they have submitted
 * is overwritten. What fails for want of memory is done at the next reading.
 */
void steps__look(struct collector *collector);

#endif
