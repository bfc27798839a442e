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

static void write_range(struct json *j, const struct nvtx_range *range)
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
	json__object_end(j);
}

void json_ranges__write(struct json *j, const struct nvtx_ranges *ranges, const struct process *p)
{
	json__key(j, "ranges");
	json__array_begin(j);
	for (size_t i = 0; i < ranges->count; i++)
		if (nvtx_range__is_of(&ranges->list[i], p->pid, p->start_ns))
			write_range(j, &ranges->list[i]);
	json__array_end(j);
}

void json_ranges__write_losses(struct json *j, const struct nvtx_ranges *ranges)
{
	json__key(j, "ranges_lost");
	json__object_begin(j);
	json__key_u64(j, "ranges", ranges->unread_ranges + ranges->lost_ranges);
	json__key_u64(j, "names", ranges->unread_names + ranges->lost_names);
	json__object_end(j);
}
