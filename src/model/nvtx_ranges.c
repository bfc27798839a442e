// SPDX-License-Identifier: BSD-2-Clause
// Names and sums of NVTX ranges, see nvtx_ranges.h.
#include "model/nvtx_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/host.h"

static void free_name(struct nvtx_known_name *name)
{
	free(name->text);
	free(name);
}

void nvtx_ranges__clear(struct nvtx_ranges *ranges)
{
	TABLE_CLEAR(ranges->names, free_name);
	free(ranges->list);
	*ranges = (struct nvtx_ranges){0};
}

/* A number means its first name: a program cannot rename what was counted. */
static void take_name(struct nvtx_ranges *ranges, const struct nvtx_name *told)
{
	const struct nvtx_key key = {
		.process = {.pid = told->key.process.pid, .start_ns = told->key.process.start_ns},
		.name = told->key.name};
	struct nvtx_known_name *name = TABLE_FIND(ranges->names, key, &key);

	if (name)
		return;
	if (ranges->name_count < NVTX_ALL_NAMES)
		name = TABLE_ADD_NEW(ranges->names, key, &key);
	if (!name) {
		ranges->lost_names++;
		return;
	}
	ranges->name_count++;
	name->text = strndup(told->text, sizeof(told->text) - 1);
}

void nvtx_ranges__take_name(struct nvtx_ranges *ranges, const void *record, size_t size)
{
	if (size >= sizeof(struct nvtx_name))
		take_name(ranges, record);
}

void nvtx_ranges__begin(struct nvtx_ranges *ranges, const struct gpu_times *times)
{
	ranges->count = 0;
	ranges->is_sorted = false;
	ranges->gpu_times = times;
	ranges->lost_ranges = 0;
}

void nvtx_ranges__add(struct nvtx_ranges *ranges, const struct nvtx_key *key,
		      const struct nvtx_record *record)
{
	const struct nvtx_range range = {.key = *key, .record = *record};

	if (ARRAY_APPEND(ranges->list, ranges->count, range))
		ranges->lost_ranges += record->count;
}

/* --- GPU times --- */

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct nvtx_key)); /* which the range begins with */
}

/* The first path comes after the last range. */
static void sort_for_paths(struct nvtx_ranges *ranges)
{
	if (ranges->is_sorted)
		return;
	ranges->is_sorted = true;
	if (ranges->count)
		qsort(ranges->list, ranges->count, sizeof(*ranges->list), by_key);
}

static bool has_name(const struct nvtx_path *path, unsigned int at)
{
	return path->used & UINT64_C(1) << at;
}

static bool is_earlier_name(const struct nvtx_path *path, unsigned int at)
{
	for (unsigned int i = 0; i < at; i++)
		if (has_name(path, i) && path->names[i] == path->names[at])
			return true;
	return false;
}

static const struct gpu_parts *parts_of(const struct nvtx_ranges *ranges,
					const struct nvtx_path_key *key)
{
	/* Both clocks are BPF's. */
	const struct gpu_times_key process = {key->process.pid, key->process.start_ns};
	const struct gpu_process_times *times =
		ranges->gpu_times ? TABLE_FIND(ranges->gpu_times->processes, key, &process) : NULL;

	return times ? gpu_paths__find(&times->paths, key->path) : NULL;
}

void nvtx_ranges__add_path(struct nvtx_ranges *ranges, const struct nvtx_path_key *key,
			   const struct nvtx_path *path)
{
	const struct gpu_parts *parts = parts_of(ranges, key);

	if (!parts || !ranges->count)
		return;
	sort_for_paths(ranges);
	for (unsigned int i = 0; i < NVTX_PATH_NAMES; i++) {
		const struct nvtx_key wanted = {
			.process = {.pid = key->process.pid, .start_ns = key->process.start_ns},
			.name = path->names[i]};
		struct nvtx_range *range;

		if (!has_name(path, i) || is_earlier_name(path, i))
			continue;
		range = bsearch(&wanted, ranges->list, ranges->count, sizeof(*ranges->list),
				by_key);
		if (range)
			gpu_parts__add(&range->gpu, parts);
	}
}

bool nvtx_ranges__apart(const struct nvtx_ranges *ranges, pid_t pid, uint64_t start_ns,
			struct nvtx_apart *apart)
{
	const struct gpu_process_times *times;
	const struct gpu_path *path, *next;

	*apart = (struct nvtx_apart){0};
	if (!ranges->gpu_times || ranges->gpu_times->share > 0)
		return false;
	times = gpu_times__find(ranges->gpu_times, pid, start_ns);
	if (!times || times->failed)
		return false;
	apart->unknown = times->paths.unknown;
	HASH_ITER (hh, times->paths.table, path, next)
		gpu_parts__add(path->path ? &apart->in_ranges : &apart->outside, &path->sum);
	gpu_process_times__work(times, &apart->uncalled);
	return true;
}

/* --- the end of a reading --- */

static void drop_empty(struct nvtx_ranges *ranges)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct nvtx_range *range = &ranges->list[i];

		if (range->record.count || gpu_parts__all(&range->gpu).count)
			ranges->list[kept++] = *range;
	}
	ranges->count = kept;
}

static int by_time(const void *a, const void *b)
{
	const struct nvtx_range *x = a, *y = b;

	if (x->record.ns != y->record.ns)
		return x->record.ns < y->record.ns ? 1 : -1;
	return x->key.name < y->key.name ? -1 : x->key.name > y->key.name;
}

void nvtx_ranges__end(struct nvtx_ranges *ranges)
{
	drop_empty(ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		struct nvtx_range *range = &ranges->list[i];
		const struct nvtx_known_name *name = TABLE_FIND(ranges->names, key, &range->key);

		range->name = name ? name->text : NULL;
	}
	if (ranges->count)
		qsort(ranges->list, ranges->count, sizeof(*ranges->list), by_time);
}

bool nvtx_range__is_of(const struct nvtx_range *range, pid_t pid, uint64_t start_ns)
{
	return range->key.process.pid == pid &&
	       host__is_same_start(range->key.process.start_ns, start_ns);
}
