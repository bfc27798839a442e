// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges in JSON, see ranges.h.
#include "output/json/ranges.h"

static void write_time(struct json *j, const char *key, const struct time_totals *time)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_u64(j, "calls", time->calls);
	json__key_u64(j, "ns", time->ns);
	json__object_end(j);
}

static void write_part(struct json *j, const char *key, const struct gpu_part_sum *part)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_u64(j, "count", part->count);
	json__key_u64(j, "ns", part->ns);
	json__object_end(j);
}

static void write_parts(struct json *j, const struct gpu_parts *gpu)
{
	static const char *const keys[GPU_PARTS] = {
		[GPU_PART_KERNELS] = "kernels",
		[GPU_PART_COPIES] = "copies",
		[GPU_PART_SETS] = "sets",
		[GPU_PART_GRAPHS] = "graphs",
	};
	const struct gpu_part_sum all = gpu_parts__all(gpu);

	json__object_begin(j);
	json__key_u64(j, "count", all.count);
	json__key_u64(j, "total_ns", all.ns);
	for (int i = 0; i < GPU_PARTS; i++)
		write_part(j, keys[i], &gpu->parts[i]);
	json__object_end(j);
}

static void key_parts(struct json *j, const char *key, const struct gpu_parts *gpu)
{
	json__key(j, key);
	write_parts(j, gpu);
}

static void write_range(struct json *j, const struct nvtx_range *range, bool with_gpu)
{
	static const char *const keys[TIME_CLASSES] = {
		[TIME_LAUNCH] = "launch", [TIME_MEMORY] = "memory", [TIME_COPY] = "copy",
		[TIME_WAIT] = "wait",	  [TIME_OTHER] = "other",
	};
	const struct nvtx_record *record = &range->record;

	json__object_begin(j);
	json__key_string(j, "name", range->name);
	json__key_bool(j, "is_rest", !range->key.name);
	json__key_u64(j, "count", record->count);
	json__key_u64(j, "total_ns", record->ns);
	json__key_u64(j, "mean_ns", record->count ? record->ns / record->count : 0);
	json__key_u64(j, "max_ns", record->max_ns);
	json__key_u64(j, "launches", record->launches);
	for (int i = 0; i < TIME_CLASSES; i++)
		write_time(j, keys[i], &record->time[i]);
	json__key_u64(j, "unmeasured", record->unmeasured);
	json__key(j, "gpu");
	if (with_gpu && !record->uncalled)
		write_parts(j, &range->gpu);
	else
		json__null(j);
	json__object_end(j);
}

static void write_apart(struct json *j, const struct nvtx_apart *apart)
{
	json__object_begin(j);
	key_parts(j, "in_ranges", &apart->in_ranges);
	key_parts(j, "outside", &apart->outside);
	key_parts(j, "unknown", &apart->unknown);
	json__key_u64(j, "without_call", apart->uncalled);
	json__object_end(j);
}

void json_ranges__write(struct json *j, const struct nvtx_ranges *ranges, const struct process *p)
{
	struct nvtx_apart apart;
	bool with_gpu = nvtx_ranges__apart(ranges, p->pid, p->start_ns, &apart);

	json__key(j, "ranges");
	json__array_begin(j);
	for (size_t i = 0; i < ranges->count; i++)
		if (nvtx_range__is_of(&ranges->list[i], p->pid, p->start_ns))
			write_range(j, &ranges->list[i], with_gpu);
	json__array_end(j);
	json__key(j, "ranges_gpu");
	if (with_gpu)
		write_apart(j, &apart);
	else
		json__null(j);
}

void json_ranges__write_losses(struct json *j, const struct nvtx_ranges *ranges)
{
	json__key(j, "ranges_lost");
	json__object_begin(j);
	json__key_u64(j, "ranges", ranges->unread_ranges + ranges->lost_ranges);
	json__key_u64(j, "names", ranges->unread_names + ranges->lost_names);
	json__object_end(j);
}
