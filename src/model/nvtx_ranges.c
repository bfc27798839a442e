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

void nvtx_ranges__begin(struct nvtx_ranges *ranges)
{
	ranges->count = 0;
	ranges->lost_ranges = 0;
}

void nvtx_ranges__add(struct nvtx_ranges *ranges, const struct nvtx_key *key,
		      const struct nvtx_record *record)
{
	const struct nvtx_range range = {.key = *key, .record = *record};

	if (ARRAY_APPEND(ranges->list, ranges->count, range))
		ranges->lost_ranges += record->count;
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
