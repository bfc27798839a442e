// SPDX-License-Identifier: BSD-2-Clause
// Durations and sums of a profile in JSON, see profile.h.
#include "output/json/profile.h"

#include "api/api.h"
#include "output/enum_names.h"

void json_profile__key_totals(struct json *j, const char *key, const struct time_totals *totals)
{
	json__key(j, key);
	json__object_begin(j);
	json__key_u64(j, "calls", totals->calls);
	json__key_u64(j, "ns", totals->ns);
	json__object_end(j);
}

static void write_function(struct json *j, const struct process *p,
			   const struct profile_function *f)
{
	const struct api_function *function = &api_functions[f->row];
	const struct duration_record *time = &f->time;

	json__object_begin(j);
	json__key_string(j, "function", function->symbol);
	json__key_string(j, "layer", enum_names__layer(function->desc.layer));
	json__key_u64(j, "calls", time->calls + f->missed);
	if (f->missed) {
		json__key_bool(j, "estimated", true);
		json__key_u64(j, "missed", f->missed);
	}
	json__key_u64(j, "errors", profile__errors(p, f->row));
	if (f->open)
		json__key_u64(j, "in_progress", f->open);
	json__key_u64(j, "total_ns", profile_function__ns(f));
	json__key_u64(j, "average_ns", time->calls ? time->ns / time->calls : 0);
	json__key_u64(j, "p50_ns", profile__percentile(time->buckets, 0.5, time->max_ns));
	json__key_u64(j, "p99_ns", profile__percentile(time->buckets, 0.99, time->max_ns));
	json__key_u64(j, "max_ns", time->max_ns);
	json__object_end(j);
}

void json_durations__write(struct json *j, const struct process *p)
{
	json__key(j, "functions");
	json__array_begin(j);
	for (size_t i = 0; i < p->profile->function_count; i++)
		write_function(j, p, &p->profile->functions[i]);
	json__array_end(j);
}

static void write_queues(struct json *j, const struct process_profile *totals)
{
	json__key(j, "queues");
	json__array_begin(j);
	for (int i = 0; i < PROFILE_DEVICES; i++) {
		const struct device_queue *queue = &totals->queues[i];

		if (!queue->launched_epoch)
			continue;
		json__object_begin(j);
		json__key_i64(j, "device", i);
		json__key_u64(j, "launched_epoch", queue->launched_epoch);
		json__key_u64(j, "stream", queue->stream);
		json__key_u64(j, "mixed", queue->mixed);
		json__key_u64(j, "empty_ns", queue->empty_ns);
		json__key_u64(j, "streams_with_work", queue->stream_count);
		json__key_u64(j, "loose_epoch", queue->loose_epoch);
		json__key_u64(j, "idle_ns", queue->idle_ns);
		json__key_u64(j, "idle_times", queue->idle_times);
		json__key_u64(j, "idle_since_ns", queue->idle_since_ns);
		json__key_u64(j, "legacy_waiting", queue->legacy_waiting);
		json__object_end(j);
	}
	json__array_end(j);
}

static void write_repeats(struct json *j, const struct process_profile *totals)
{
	static const char *const kinds[] = {"H2D", "D2H"};

	json__key(j, "repeats");
	json__object_begin(j);
	for (int i = 0; i < 2; i++) {
		json__key(j, kinds[i]);
		json__object_begin(j);
		json__key_u64(j, "calls", totals->repeats[i].calls);
		json__key_u64(j, "ns", totals->repeats[i].ns);
		json__key_u64(j, "bytes", totals->repeat_bytes[i]);
		json__object_end(j);
	}
	json__object_end(j);
}

void json_totals__write(struct json *j, const struct process_profile *totals)
{
	json__key(j, "account");
	json__object_begin(j);
	write_queues(j, totals);
	json__key_u64(j, "worked", totals->worked);
	json__key_u64(j, "device_uses", totals->device_uses);
	json__key_u64(j, "device_changes", totals->device_changes);
	write_repeats(j, totals);
	json__key_u64(j, "unrecorded_waits", totals->unrecorded_waits);
	json__key_u64(j, "unrecorded_queries", totals->unrecorded_queries);
	json__key_u64(j, "destroyed_busy", totals->destroyed_busy);
	json__key_u64(j, "freed_busy", totals->freed_busy);
	json__key_u64(j, "freed_busy_bytes", totals->freed_busy_bytes);
	json__key_u64(j, "missing_row", totals->missing_row);
	json__key_u64(j, "unproven", totals->unproven);
	/* their probes are not always attached */
	json__key_u64(j, "asks_seen", totals->asks.calls);
	json__object_end(j);
}
