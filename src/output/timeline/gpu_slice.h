/* SPDX-License-Identifier: BSD-2-Clause */
/* What all forms of a timeline say of a piece of a GPU's work: its name, category and arguments. */
#ifndef OUTPUT_TIMELINE_GPU_SLICE_H
#define OUTPUT_TIMELINE_GPU_SLICE_H

#include "output/timeline/arguments.h"

const char *timeline_gpu_slice__name(const struct timeline_gpu_slice *slice); /* may be hostile */
const char *timeline_gpu_slice__category(const struct timeline_gpu_slice *slice); /* our own */

/* Bytes that its texts take at most, in any form. */
size_t timeline_gpu_slice__room(const struct timeline_gpu_slice *slice);

void timeline_gpu_slice__write(const struct timeline_gpu_slice *slice,
			       const struct argument_writer *writer, void *to);

/* A copy or set has so many bytes a microsecond (MB/s); 0: unknown, or less. */
uint64_t timeline_gpu_slice__bandwidth(const struct timeline_gpu_slice *slice);

/* The same as Kineto calls them: "Memcpy HtoD" and "gpu_memcpy". */
const char *kineto_gpu__name(const struct timeline_gpu_slice *slice);
const char *kineto_gpu__category(const struct timeline_gpu_slice *slice);

#endif
