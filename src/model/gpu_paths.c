// SPDX-License-Identifier: BSD-2-Clause
// GPU work by the NVTX ranges of its calls, see gpu_paths.h.
#include "model/gpu_paths.h"

#include <stdlib.h>

#include "base/saturate.h"
#include "model/gpu_time_sum.h"

static enum gpu_part part_of(const struct gpu_work *work)
{
	switch (work->kind) {
	case GPU_WORK_KERNEL:
	case GPU_WORK_GRAPH_KERNEL: return GPU_PART_KERNELS;
	case GPU_WORK_COPY: return GPU_PART_COPIES;
	case GPU_WORK_SET: return GPU_PART_SETS;
	case GPU_WORK_GRAPH: return GPU_PART_GRAPHS;
	default: return GPU_PARTS;
	}
}

static struct gpu_parts *sum_of(struct gpu_paths *paths, uint64_t number)
{
	struct gpu_path *path;

	if (number == NVTX_PATH_UNKNOWN)
		return &paths->unknown;
	path = TABLE_FIND(paths->table, path, &number);
	/* The one that is none of a process's paths is the empty one. */
	if (!path && HASH_COUNT(paths->table) < NVTX_PATHS + 1)
		path = TABLE_ADD_NEW(paths->table, path, &number);
	return path ? &path->sum : &paths->unknown;
}

void gpu_paths__add(struct gpu_paths *paths, const struct gpu_joined *joined)
{
	const struct gpu_work *work = joined->work;
	enum gpu_part part = part_of(work);
	struct gpu_part_sum *sum;

	if (part == GPU_PARTS || !gpu_work__has_time(work))
		return;
	sum = &sum_of(paths, joined->path)->parts[part];
	sum->count++;
	saturate__add(&sum->ns, work->end_ns - work->start_ns);
}

const struct gpu_parts *gpu_paths__find(const struct gpu_paths *paths, uint64_t path)
{
	const struct gpu_path *found = TABLE_FIND(paths->table, path, &path);

	return found ? &found->sum : NULL;
}

void gpu_paths__clear(struct gpu_paths *paths)
{
	TABLE_CLEAR(paths->table, free);
	*paths = (struct gpu_paths){0};
}

void gpu_parts__add(struct gpu_parts *sum, const struct gpu_parts *more)
{
	for (int i = 0; i < GPU_PARTS; i++) {
		saturate__add(&sum->parts[i].count, more->parts[i].count);
		saturate__add(&sum->parts[i].ns, more->parts[i].ns);
	}
}

struct gpu_part_sum gpu_parts__all(const struct gpu_parts *sum)
{
	struct gpu_part_sum all = {0};

	for (int i = 0; i < GPU_PARTS; i++) {
		saturate__add(&all.count, sum->parts[i].count);
		saturate__add(&all.ns, sum->parts[i].ns);
	}
	return all;
}
