/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the steps that threads submit repeatedly (gpuprobe/steps.h) into the model, and tells BPF
 * which anchors end steps. It searches a thread's submissions for an anchor. It searches again if
 * the anchor no longer occurs while launches continue, or if the anchor was found in too few
 * submissions. Steps from before the anchor was found also count, as far as their submissions are
 * kept.
 */
#ifndef COLLECT_STEPS_H
#define COLLECT_STEPS_H

#include "base/error.h"
#include "collect/reading.h"

struct gpuprobe_bpf;
struct steps;

/*
 * For a BPF object that outlives *out and was loaded with steps. With `range`, which must outlive
 * the model, steps are NVTX ranges of this name, which BPF finds by itself. Returns 0 or a negative
 * errno with a message.
 */
int steps__new(const struct gpuprobe_bpf *skeleton, const char *range, struct steps **out,
	       struct error *err);
void steps__free(struct steps *steps);

/*
 * Updates struct process's `steps`, and frees the records of ended threads. Does nothing if the
 * collector has no steps. Returns 0 or a negative errno.
 */
int steps__read(struct reading *reading);

/*
 * Call this when a thread has submitted much and no step of it has been found: examines all such
 * threads before their submissions are overwritten. Work that fails for lack of memory is left to
 * the next reading.
 */
void steps__look(struct collector *collector);

#endif
