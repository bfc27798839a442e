/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of a process's GPUs by the NVTX ranges that its calls were made in (--gpu-times with
 * --nvtx): by path, which is a number for the ranges that a thread was in.
 */
#ifndef MODEL_GPU_PATHS_H
#define MODEL_GPU_PATHS_H

#include <stdint.h>

#include "base/table.h"
#include "gpuprobe/nvtx.h"
#include "model/gpu_join.h"

enum gpu_part {
	GPU_PART_KERNELS, /* in graphs, too, if these have times of their own */
	GPU_PART_COPIES,
	GPU_PART_SETS,
	GPU_PART_GRAPHS,
	GPU_PARTS,
};

/* Work with a time. */
struct gpu_part_sum {
	uint64_t count, ns;
};

struct gpu_parts {
	struct gpu_part_sum parts[GPU_PARTS];
};

struct gpu_path {
	uint64_t path; /* 0: in no range */
	struct gpu_parts sum;
	UT_hash_handle hh;
};

/* Initially all zero. */
struct gpu_paths {
	struct gpu_path *table;
	struct gpu_parts unknown; /* in ranges that are not known */
};

/* Adds work; NVTX_PATHS paths at most, the others are unknown. Work of no known kind is ignored. */
void gpu_paths__add(struct gpu_paths *paths, const struct gpu_joined *joined);

/* The work of this path; NULL: there is none. */
const struct gpu_parts *gpu_paths__find(const struct gpu_paths *paths, uint64_t path);

void gpu_paths__clear(struct gpu_paths *paths);

void gpu_parts__add(struct gpu_parts *sum, const struct gpu_parts *more);

/* The sum over all parts. */
struct gpu_part_sum gpu_parts__all(const struct gpu_parts *sum);

#endif
