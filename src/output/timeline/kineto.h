/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of PyTorch's profiler (Kineto), for readers of its files: what calls, their arguments
 * and steps are called there.
 */
#ifndef OUTPUT_TIMELINE_KINETO_H
#define OUTPUT_TIMELINE_KINETO_H

#include <stdbool.h>

#include "output/timeline/form.h"

const char *kineto__category(const struct timeline_call *call); /* "cuda_runtime" */

/* Without _ptsz and _ptds. */
const char *kineto__name(const struct timeline_call *call);

/*
 * The key of an argument. Readers take calls with "stream" for work of the GPU, so the handle that
 * the host gave has another key.
 */
const char *kineto__key(const char *name);

/* Which steps are in the file. All zero at first. */
struct kineto_steps {
	pid_t tid;	/* of the thread that shows its steps; 0: none yet */
	uint64_t count; /* so far */
};

#define KINETO_ARROW "ac2g" /* the category of arrows from calls to work of GPUs */
#define KINETO_NAME 48

/*
 * Writes the name of a step's annotation: "ProfilerStep#1". Returns false if the step has none:
 * readers tell steps by their numbers alone, so only the first thread that has steps shows them.
 */
bool kineto_steps__take(struct kineto_steps *steps, const struct timeline_span *span,
			char name[KINETO_NAME]);

#endif
