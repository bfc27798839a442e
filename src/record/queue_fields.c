// SPDX-License-Identifier: BSD-2-Clause
// Which members of what BPF keeps about what is queued are recorded, see fields.h.
#include "record/types.h"

#include "gpuprobe/profile.h"

#define T struct queue_stream
static const struct recorded_field queue_stream_fields[] = {
	VALUE(stream),
	VALUE(scope),
};
RECORDED_TYPE(queue_stream, 0);
#undef T

#define T struct device_queue
static const struct recorded_field device_queue_fields[] = {
	SKIPPED(lock, "BPF's"),
	BELOW(stream_count, QUEUE_STREAMS + 1),
	STRUCTS(streams, queue_stream),
	VALUE(unlisted),
	VALUE(loose_epoch),
	VALUE(sure_ns),
	VALUE(done_ns),
	VALUE(idle_since_ns),
	TOTAL(idle_ns),
	TOTAL(idle_times),
	VALUE(launched_epoch),
	VALUE(stream),
	VALUE(mixed),
	VALUE(context),
	VALUE(shared),
	VALUE(empty_ns),
	VALUE(empty_epoch),
	VALUE(empty_tid),
	VALUE(busy_ns),
	VALUE(used),
	VALUE(copied_ns),
	VALUE(legacy_waiting),
};
RECORDED_TYPE(device_queue, 0);
#undef T

#define T struct missing_site
static const struct recorded_field missing_site_fields[] = {
	VALUE(used), ROW(row), VALUE(stack), TOTAL(calls), TOTAL(bytes), VALUE(number),
};
RECORDED_TYPE(missing_site, 0);
#undef T

#define T struct long_call
static const struct recorded_field long_call_fields[] = {
	VALUE(start_ns),   VALUE(end_ns),
	VALUE(stack),	   VALUE(counter_slot),
	VALUE(tid),	   ROW(row),
	VALUE(holds),	   BELOW(pair, CONTENTIONS + 1),
	VALUE(together),   SKIPPED(pad, "padding"),
	VALUE(counted_ns), VALUE(holder_ns),
};
RECORDED_TYPE(long_call, 0);
#undef T

#define T struct contention
static const struct recorded_field contention_fields[] = {
	VALUE(used),	     ROW(row),
	ROW(holder_row),     VALUE(tid),
	VALUE(holder_tid),   VALUE(stack),
	VALUE(holder_stack), STRUCTS(held, time_totals),
	VALUE(max_ns),	     STRUCTS(beside, time_totals),
};
RECORDED_TYPE(contention, 0);
#undef T

#define T struct process_profile
static const struct recorded_field process_profile_fields[] = {
	STRUCTS(queues, device_queue),
	VALUE(worked),
	VALUE(device_uses),
	VALUE(device_changes),
	STRUCTS(repeats, time_totals),
	TOTALS(repeat_bytes),
	VALUE(queued),
	VALUE(managed),
	TOTAL(unrecorded_waits),
	TOTAL(unrecorded_queries),
	TOTAL(destroyed_busy),
	TOTAL(freed_busy),
	TOTAL(freed_busy_bytes),
	TOTAL(missing_calls),
	STRUCTS(missing_sites, missing_site),
	VALUE(missing_stack),
	ROW(missing_row),
	VALUE(events_elsewhere),
	TOTAL(exit_copies),
	TOTAL(exit_bytes),
	STRUCTS(asks, time_totals),
	SKIPPED(submitter_lock, "BPF's"),
	VALUE(submitter_count),
	VALUE(unlisted_submitters),
	VALUES(submitters),
	VALUE(strange_tid),
	VALUE(unproven),
	VALUE(one_device),
	VALUE(launched_ns),
	VALUE(launched_tid),
	SKIPPED(pad, "padding"),
	KEPT_STRUCTS(launched, start_sums),
	SKIPPED(long_lock, "BPF's"),
	VALUE(long_call_count),
	KEPT_STRUCTS(long_calls, long_call),
	STRUCTS(contentions, contention),
	TOTAL(contentions_left),
	TOTAL(unlisted_threads),
	STRUCTS(unlisted_time, time_totals),
	TOTAL(unlisted_wall_ns),
};
RECORDED_TYPE(process_profile, 0);
#undef T
