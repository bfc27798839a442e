/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Byte-seconds of a process's device memory, from its readings. A reading has the number of live
 * allocations by size, how many were made since the one before, and when the latest was made. When
 * an allocation was freed is known up to the time between two readings, so the result has bounds.
 * Memory of a process from before gpuprobe is NVML's figure.
 */
#ifndef ACCOUNT_MEMORY_H
#define ACCOUNT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

/* Byte-seconds: the estimate, and what it is at least and at most. */
struct byte_seconds {
	double best, least, most;
};

/* What the latest reading of a process said. All zero before the first one. */
struct account_memory {
	struct sized *sizes; /* ordered by size, function, kind and device */
	size_t size_count;
	double unsized_bytes; /* live bytes that `sizes` do not explain; below 0: too many there */
	uint64_t nvml_bytes;  /* 0: unknown */
};

/* A part of the process's life, CLOCK_BOOTTIME. */
struct account_span {
	uint64_t from_ns, to_ns;
	bool is_edge; /* it begins or ends with the process */
};

/*
 * Sets `bytes` to those of the span that ends with this reading of the process and began with the
 * one before, or with its first call, and remembers this reading. *by_nvml says that the figure is
 * NVML's, which has no bounds. Returns 0, or -ENOMEM: the reading is not remembered, then the next
 * one stands for both.
 */
int account_memory__take(struct account_memory *memory, const struct process *process,
			 const struct account_span *span, struct byte_seconds *bytes,
			 bool *by_nvml);

/* Releases what it owns. */
void account_memory__clear(struct account_memory *memory);

#endif
