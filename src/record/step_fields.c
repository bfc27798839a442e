// SPDX-License-Identifier: BSD-2-Clause
// Which members of steps are recorded, see fields.h.
#include "record/types.h"

#include "model/steps.h"

#define T struct step_sums
static const struct recorded_field step_sums_fields[] = {
	TOTAL(launches),    TOTALS(copies), TOTALS(bytes),  TOTAL(waits),
	TOTAL(allocations), TOTAL(frees),   TOTALS(inside),
};
RECORDED_TYPE(step_sums, 0);
#undef T

#define T struct step_anchor
static const struct recorded_field step_anchor_fields[] = {
	VALUE(code), VALUE(before), VALUE(mask), VALUE(launches), VALUE(serial),
};
RECORDED_TYPE(step_anchor, 0);
#undef T

#define T struct slow_step
static const struct recorded_field slow_step_fields[] = {
	VALUE(begin_ns),
	VALUE(ns),
	STRUCTS(sums, step_sums),
};
RECORDED_TYPE(slow_step, 0);
#undef T

#define T struct step_first
static const struct recorded_field step_first_fields[] = {
	VALUE(begin_ns),
	VALUE(ns),
};
RECORDED_TYPE(step_first, 0);
#undef T

#define T struct step_phase
static const struct recorded_field step_phase_fields[] = {
	STRUCTS(anchor, step_anchor),
	VALUE(sampled),
	TOTAL(steps),
	TOTAL(ns),
	VALUE(max_ns),
	VALUE(first_ns),
	VALUE(latest_ns),
	TOTAL(irregular),
	TOTAL(irregular_ns),
	TOTALS(buckets),
	TOTAL(summed),
	STRUCTS(sums, step_sums),
	TOTAL(listed),
	STRUCTS(listed_sums, step_sums),
	KEPT_STRUCTS(slowest, slow_step),
	STRUCTS(first, step_first),
	BELOW(first_count, STEP_FIRSTS + 1),
};
RECORDED_TYPE(step_phase, 0);
#undef T

#define T struct step_handle
static const struct recorded_field step_handle_fields[] = {
	VALUE(value),
};
RECORDED_TYPE(step_handle, 0);
#undef T

#define T struct step_thread
static const struct recorded_field step_thread_fields[] = {
	SKIPPED(range, "of a run with --nvtx: recordings have no ranges"),
	VALUE(tid),
	VALUE(start_ns),
	HIDDEN_TEXT(comm, "task"),
	VALUE(ended_ns),
	TOTAL(submissions),
	STRUCTS(totals, step_sums),
	STRUCTS(phases, step_phase),
	BELOW(phase_count, STEP_PHASES + 1),
	BELOW(current, STEP_PHASES),
	LIST(round, round_length, step_handle),
	COUNTED(round_length),
};
RECORDED_TYPE(step_thread, 2);
#undef T

#define T struct process_steps
static const struct recorded_field process_steps_fields[] = {
	POINTERS(threads, count, step_thread),
	COUNTED(count),
};
RECORDED_TYPE(process_steps, 0);
#undef T
