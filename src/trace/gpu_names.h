/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the kernels that ran on GPUs, by the number that the library in the watched program
 * gives them. The memory is bounded for a process and for all.
 */
#ifndef TRACE_GPU_NAMES_H
#define TRACE_GPU_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "trace/launch_labels.h"

#define GPU_NAMES_MAX 4096		/* of a process */
#define GPU_NAMES_BYTES_MAX (64u << 20) /* texts of all processes */

struct gpu_name {
	uint64_t number;
	char *mangled, *shown, *label; /* `label`: NULL with full names */
	size_t bytes;
	UT_hash_handle hh;
};

/* The names of one process. Initially all zero. */
struct gpu_names {
	struct gpu_name *names; /* a table */
	struct launch_labels labels;
	uint64_t spent_ns; /* on demangling */
};

/* What the names of all processes take. Initially all zero. */
struct gpu_names_room {
	size_t bytes, label_bytes;
};

/*
 * Adds a name; the first one of a number stays. `full`: as launch_names__new. Returns 0, also for a
 * number that has a name, -EINVAL for a text that is no kernel's name, -ENOSPC or -ENOMEM.
 */
int gpu_names__add(struct gpu_names *names, struct gpu_names_room *room, uint64_t number,
		   const char *text, bool full);

/* NULL: unknown. */
const struct gpu_name *gpu_names__find(const struct gpu_names *names, uint64_t number);

void gpu_names__clear(struct gpu_names *names, struct gpu_names_room *room);

#endif
