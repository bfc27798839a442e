// SPDX-License-Identifier: BSD-2-Clause
// Which members of a process's profile are recorded, see fields.h.
#include "record/types.h"

#include "model/profile.h"
#include "model/steady_base.h"

#define T struct duration_record
static const struct recorded_field duration_record_fields[] = {
	TOTAL(calls), TOTAL(ns), VALUE(max_ns), TOTAL(unfinished_ns), TOTALS(buckets),
};
RECORDED_TYPE(duration_record, 0);
#undef T

#define T struct profile_function
static const struct recorded_field profile_function_fields[] = {
	ROW(row),      STRUCTS(time, duration_record),
	TOTAL(missed), TOTAL(missed_ns),
	VALUE(open),   VALUE(open_ns),
};
RECORDED_TYPE(profile_function, 1);
#undef T

#define T struct time_totals
static const struct recorded_field time_totals_fields[] = {
	TOTAL(calls),
	TOTAL(ns),
};
RECORDED_TYPE(time_totals, 0);
#undef T

#define T struct upload_sums
static const struct recorded_field upload_sums_fields[] = {
	TOTAL(calls),
	TOTAL(bytes),
	TOTAL(ns),
	TOTAL(pageable_bytes),
};
RECORDED_TYPE(upload_sums, 0);
#undef T

#define T struct thread_profile
static const struct recorded_field thread_profile_fields[] = {
	VALUE(tid),
	VALUE(start_ns),
	VALUE(slot),
	VALUE(first_ns),
	VALUE(latest_ns),
	VALUE(ended_ns),
	HIDDEN_TEXT(comm, "task"),
	STRUCTS(time, time_totals),
	TOTALS(setup),
	TOTALS(setup_inside),
	TOTAL(loads),
	STRUCTS(uploads, upload_sums),
	TOTAL(launches),
	VALUE(launched_ns),
	TOTAL(gap_count),
	TOTAL(gap_ns),
	STRUCTS(chained, time_totals),
	TOTAL(chained_gap_ns),
	VALUE(others),
	VALUE(launches_since_wait),
	STRUCTS(single_waits, time_totals),
	STRUCTS(bare_waits, time_totals),
	STRUCTS(batch_waits, time_totals),
	STRUCTS(blind_waits, time_totals),
	VALUE(waited_ns),
	STRUCTS(implicit, time_totals),
	KEPT_STRUCTS(pending, time_totals),
	VALUE(pending_calls),
	TOTAL(idle_gaps),
	TOTAL(idle_ns),
	VALUE(idle_max_ns),
	TOTAL(idle_inside_ns),
	VALUE(idle_stack),
	VALUE(inside_ns),
	VALUE(inside_since),
	TOTAL(legacy_launches),
	TOTAL(legacy_behind),
	TOTAL(legacy_crossings),
	STRUCTS(legacy_waits, time_totals),
	VALUE(last_stream),
	VALUE(last_epoch),
	VALUE(submitting_ns),
	VALUE(submits),
	VALUE(unlisted),
	VALUE(error_code),
	ROW(error_row),
	VALUE(error_ns),
	VALUE(error_launches),
	VALUE(error_others),
	VALUE(error_stack),
	TOTALS(gaps),
};
RECORDED_TYPE(thread_profile, 2);
#undef T

#define T struct thread_missed
static const struct recorded_field thread_missed_fields[] = {
	STRUCTS(time, time_totals),
	TOTAL(launches),
};
RECORDED_TYPE(thread_missed, 0);
#undef T

#define T struct size_key
static const struct recorded_field size_key_fields[] = {
	VALUE(size),   VALUE(slot),
	ROW(row),      BELOW(kind, MEMORY_KINDS),
	VALUE(device), SKIPPED(pad, "padding"),
};
RECORDED_TYPE(size_key, 0);
#undef T

#define T struct size_record
static const struct recorded_field size_record_fields[] = {
	TOTAL(allocations), TOTAL(allocation_ns), TOTAL(frees),
	TOTAL(free_ns),	    VALUE(live),	  VALUE(peak),
	VALUE(first_ns),    VALUE(latest_ns),	  VALUE(first_took_ns),
};
RECORDED_TYPE(size_record, 0);
#undef T

#define T struct profile_size
static const struct recorded_field profile_size_fields[] = {
	STRUCTS(key, size_key),
	STRUCTS(record, size_record),
};
RECORDED_TYPE(profile_size, 1);
#undef T

#define T struct copy_size_key
static const struct recorded_field copy_size_key_fields[] = {
	VALUE(slot),   BELOW(kind, COPY_KINDS), VALUE(async), BELOW(host, COPY_HOST_PAGEABLE + 1),
	VALUE(device), SKIPPED(pad, "padding"),
};
RECORDED_TYPE(copy_size_key, 0);
#undef T

#define T struct copy_size_record
static const struct recorded_field copy_size_record_fields[] = {
	TOTALS(calls),
	TOTALS(bytes),
	TOTALS(ns),
};
RECORDED_TYPE(copy_size_record, 0);
#undef T

#define T struct profile_copies
static const struct recorded_field profile_copies_fields[] = {
	STRUCTS(key, copy_size_key),
	STRUCTS(record, copy_size_record),
};
RECORDED_TYPE(profile_copies, 1);
#undef T

#define T struct repeat_key
static const struct recorded_field repeat_key_fields[] = {
	VALUE(from),
	VALUE(to),
	VALUE(bytes),
	VALUE(slot),
	BELOW(kind, COPY_KINDS),
	SKIPPED(pad, "padding"),
};
RECORDED_TYPE(repeat_key, 0);
#undef T

#define T struct repeat_record
static const struct recorded_field repeat_record_fields[] = {
	VALUE(version),	  TOTAL(copies), TOTAL(repeats),
	TOTAL(repeat_ns), ROW(row),	 SKIPPED(pad, "padding"),
};
RECORDED_TYPE(repeat_record, 0);
#undef T

#define T struct profile_repeat
static const struct recorded_field profile_repeat_fields[] = {
	STRUCTS(key, repeat_key),
	STRUCTS(record, repeat_record),
};
RECORDED_TYPE(profile_repeat, 1);
#undef T

#define T struct mapped_copy_key
static const struct recorded_field mapped_copy_key_fields[] = {
	VALUE(inode),
	VALUE(device),
	VALUE(slot),
};
RECORDED_TYPE(mapped_copy_key, 0);
#undef T

#define T struct mapped_copy_record
static const struct recorded_field mapped_copy_record_fields[] = {
	TOTAL(calls), TOTAL(bytes), TOTAL(ns), VALUE(stack), HIDDEN_TEXT(name, "file"),
};
RECORDED_TYPE(mapped_copy_record, 0);
#undef T

#define T struct profile_mapped
static const struct recorded_field profile_mapped_fields[] = {
	STRUCTS(key, mapped_copy_key),
	STRUCTS(record, mapped_copy_record),
};
RECORDED_TYPE(profile_mapped, 1);
#undef T

#define T struct ignored_key
static const struct recorded_field ignored_key_fields[] = {
	VALUE(slot),
	VALUE(code),
	ROW(row),
	SKIPPED(pad, "padding"),
};
RECORDED_TYPE(ignored_key, 0);
#undef T

#define T struct ignored_record
static const struct recorded_field ignored_record_fields[] = {
	TOTAL(calls),
	TOTAL(launches),
	VALUE(first_ns),
	VALUE(stack),
};
RECORDED_TYPE(ignored_record, 0);
#undef T

#define T struct profile_ignored
static const struct recorded_field profile_ignored_fields[] = {
	STRUCTS(key, ignored_key),
	STRUCTS(record, ignored_record),
};
RECORDED_TYPE(profile_ignored, 1);
#undef T

#define T struct start_sums
static const struct recorded_field start_sums_fields[] = {
	VALUES(inside),
	VALUES(setup),
	VALUES(setup_inside),
	VALUE(loads),
	STRUCTS(uploads, upload_sums),
};
RECORDED_TYPE(start_sums, 0);
#undef T

#define T struct start_reading
static const struct recorded_field start_reading_fields[] = {
	VALUE(ns),
	STRUCTS(sums, start_sums),
};
RECORDED_TYPE(start_reading, 0);
#undef T

#define T struct start_record
static const struct recorded_field start_record_fields[] = {
	STRUCTS(readings, start_reading),
	BELOW(count, START_READINGS + 1),
};
RECORDED_TYPE(start_record, 0);
#undef T

#define T struct load_queue
static const struct recorded_field load_queue_fields[] = {
	VALUE(used),
	VALUE(idle_ns),
	VALUE(idle_times),
};
RECORDED_TYPE(load_queue, 0);
#undef T

#define T struct load
static const struct recorded_field load_fields[] = {
	VALUE(ns),
	STRUCTS(queues, load_queue),
	VALUE(proves),
	VALUE(launches),
	VALUE(copies),
	STRUCTS(time, time_totals),
	VALUE(held_ns),
	VALUE(held_launch_ns),
	VALUE(held_copy_ns),
	VALUE(thread_ns),
	VALUE(profile),
	VALUE(blocked_ns),
	VALUE(estimated),
	VALUE(busy_percent),
	VALUE(busy_readings),
};
RECORDED_TYPE(load, 0);
#undef T

#define T struct steady_base
static const struct recorded_field steady_base_fields[] = {
	VALUE(ns),
	BELOW(mark, SITE_MARKS),
	STRUCTS(load, load),
	LIST(threads.items, threads.count, thread_profile),
	LIST(functions.items, functions.count, profile_function),
	LIST(sizes.items, sizes.count, profile_size),
	LIST(copies.items, copies.count, profile_copies),
	LIST(repeats.items, repeats.count, profile_repeat),
	LIST(totals.items, totals.count, function_totals),
	STRUCTS(shared, process_profile),
	STRUCTS(covered, covered_totals),
};
RECORDED_TYPE(steady_base, 1);
#undef T

#define T struct steady
static const struct recorded_field steady_fields[] = {
	SLOTS(bases, count, steady_base),
	COUNTED(count),
	VALUE(worked_ns),
	STRUCTS(use, load),
};
RECORDED_TYPE(steady, 0);
#undef T

#define T struct profile_stack
static const struct recorded_field profile_stack_fields[] = {
	VALUE(id),
	STACK(stack),
};
RECORDED_TYPE(profile_stack, 1);
#undef T

#define T struct profile
static const struct recorded_field profile_fields[] = {
	LIST(functions, function_count, profile_function),
	COUNTED(function_count),
	LIST(threads, thread_count, thread_profile),
	COUNTED(thread_count),
	VALUE(ended_count),
	TOTAL(unlisted_threads),
	STRUCTS(unlisted_time, time_totals),
	TOTAL(unlisted_wall_ns),
	VALUE(counted_ns),
	LIST(missed, missed_count, thread_missed),
	STRUCTS(all_missed, thread_missed),
	COUNTED(missed_count),
	LIST(sizes, size_count, profile_size),
	COUNTED(size_count),
	LIST(copies, copy_count, profile_copies),
	COUNTED(copy_count),
	LIST(repeats, repeat_count, profile_repeat),
	COUNTED(repeat_count),
	LIST(mapped, mapped_count, profile_mapped),
	COUNTED(mapped_count),
	LIST(ignored, ignored_count, profile_ignored),
	COUNTED(ignored_count),
	STRUCTS(totals, process_profile),
	KEPT_STRUCTS(start, start_record),
	POINTER(steady, steady),
	VALUES(inflight_at_exit),
	LIST(stacks, stack_count, profile_stack),
	COUNTED(stack_count),
	VALUE(peak_bytes),
};
RECORDED_TYPE(profile, 0);
#undef T
