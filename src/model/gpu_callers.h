/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which calls the work of a process's GPUs came from (--gpu-times): by call site and kernel, by
 * thread, and how long work waited from its call to its start.
 */
#ifndef MODEL_GPU_CALLERS_H
#define MODEL_GPU_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/gpu_join.h"
#include "model/gpu_time_sum.h"

#define GPU_CALLERS_SITES 8192	/* of a process */
#define GPU_CALLERS_THREADS 256 /* of a process */
#define GPU_CALLERS_ALL 32768	/* sites of all processes: up to 9 MiB */
#define GPU_CALLERS_DEVICES 16	/* of a process */

struct gpu_site_key {
	uint64_t stack; /* its id; 0: none was taken */
	uint64_t name;	/* of a kernel, as in struct gpu_work */
	uint32_t kind;	/* enum gpu_work_kind */
	uint32_t copy;	/* enum gpu_copy_kind */
};

struct gpu_site {
	struct gpu_site_key key;
	struct gpu_time_sum sum;
	UT_hash_handle hh;
};

struct gpu_thread {
	uint32_t tid; /* in gpuprobe's pid namespace */
	struct gpu_time_sum sum;
	struct gpu_delay delay;
	UT_hash_handle hh;
};

/* Times in which a GPU had none of the process's work, between two pieces of it. */
struct gpu_gaps {
	uint64_t end_ns;	 /* of the latest work so far, CUPTI's clock */
	uint64_t before_call_ns; /* no call had been made yet: the host was late */
	uint64_t after_call_ns;	 /* the call had been made: its work took that long to start */
	uint64_t count;
};

struct gpu_callers {
	struct gpu_site *sites;				/* a table */
	struct gpu_thread *threads;			/* a table */
	struct gpu_time_sum other_sites, other_threads; /* those for which there was no room */
	struct gpu_time_sum all;
	struct gpu_delay delay;
	struct gpu_gaps gaps[GPU_CALLERS_DEVICES]; /* by device */
};

/*
 * Adds work, which comes nearly in the order of its start. `all_sites` counts the sites of all
 * processes.
 */
void gpu_callers__add(struct gpu_callers *callers, const struct gpu_joined *joined,
		      size_t *all_sites);

void gpu_callers__clear(struct gpu_callers *callers);

#endif
