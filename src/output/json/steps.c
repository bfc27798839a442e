// SPDX-License-Identifier: BSD-2-Clause
// Steps in JSON, see profile.h.
#include "model/step_kernels.h"

#include <stdlib.h>

#include "model/kernels.h"
#include "output/json/parts.h"
#include "output/json/profile.h"
#include "output/enum_names.h"

static const char *direction_word(int direction)
{
	static const char *const words[] = {"to_device", "to_host", "other"};

	return words[direction];
}

static const char *excess_word(enum step_excess excess)
{
	if (excess == STEP_EXCESS_UNKNOWN)
		return NULL;
	return excess == STEP_EXCESS_OUTSIDE ? "outside" :
					       enum_names__time_class(excess - STEP_EXCESS_INSIDE);
}

/* Leaves out bytes, allocations and times if only the thread's own submissions are known. */
static void write_content(struct json *j, const struct step_summary *summary)
{
	json__key_double(j, "launches", summary->launches);
	json__key(j, "copies");
	json__object_begin(j);
	for (int i = 0; i < STEP_DIRECTIONS; i++)
		json__key_double(j, direction_word(i), summary->copies[i]);
	json__object_end(j);
	json__key_double(j, "waits", summary->waits);
	if (!summary->sums_known)
		return;
	json__key(j, "bytes");
	json__object_begin(j);
	for (int i = 0; i < STEP_DIRECTIONS; i++)
		json__key_double(j, direction_word(i), summary->bytes[i]);
	json__object_end(j);
	json__key_double(j, "allocations", summary->allocations);
	json__key_double(j, "frees", summary->frees);
	json__key(j, "inside_ns");
	json__object_begin(j);
	for (int i = 0; i < TIME_CLASSES; i++)
		json__key_double(j, enum_names__time_class(i), summary->inside_ns[i]);
	json__object_end(j);
}

static void write_slow(struct json *j, const struct step_summary *summary,
		       const struct slow_step *step)
{
	uint64_t ns;
	enum step_excess excess = step_summary__excess(summary, step, &ns);

	json__object_begin(j);
	json__key_u64(j, "begin_ns", step->begin_ns);
	json__key_u64(j, "ns", step->ns);
	json__key_string(j, "excess", excess_word(excess));
	json__key_u64(j, "excess_ns", ns);
	json__object_end(j);
}

static void write_phase(struct json *j, const struct step_phase *phase)
{
	json__object_begin(j);
	json__key_u64(j, "count", phase->steps);
	json__key_u64(j, "thread_launches", phase->anchor.launches);
	json__key_u64(j, "p50_ns", profile__percentile(phase->buckets, 0.5, phase->max_ns));
	json__key_u64(j, "total_ns", phase->ns);
	json__key_u64(j, "first_ns", phase->first_ns);
	json__key_u64(j, "latest_ns", phase->latest_ns);
	json__object_end(j);
}

static void write_phases(struct json *j, const struct step_thread *thread)
{
	json__key(j, "phases");
	json__array_begin(j);
	for (size_t i = 0; i < thread->phase_count; i++)
		write_phase(j, &thread->phases[i]);
	json__array_end(j);
}

static void write_kernel(struct json *j, const struct process *p, const struct step_kernel *kernel)
{
	const char *label = NULL;
	bool is_kernel = process__knows_kernel(p, kernel->handle, &label);

	json__object_begin(j);
	json__key_hex(j, "handle", kernel->handle);
	json__key_string(j, "label", label);
	json__key_bool(j, "graph", !is_kernel);
	json__key_double(j, "launches", kernel->launches);
	json__object_end(j);
}

/* null: unknown. */
static void write_kernels(struct json *j, const struct process *p,
			  const struct step_summary *summary)
{
	struct step_kernel *kernels;
	size_t count;

	json__key(j, "kernels");
	if (step_kernels__list(p->steps, summary, &kernels, &count) || !count) {
		json__null(j);
		return;
	}
	json__array_begin(j);
	for (size_t i = 0; i < count; i++)
		write_kernel(j, p, &kernels[i]);
	json__array_end(j);
	free(kernels);
}

static void write_summary(struct json *j, const struct process *p,
			  const struct step_summary *summary)
{
	const struct step_phase *phase = summary->phase;

	json__key_i64(j, "tid", summary->thread->tid);
	json__key_string(j, "range", summary->thread->range);
	json__key_u64(j, "count", phase->steps);
	json__key_double(j, "mean_ns", summary->mean_ns);
	json__key_u64(j, "p50_ns", summary->p50_ns);
	json__key_u64(j, "p99_ns", summary->p99_ns);
	json__key_u64(j, "p25_ns", profile__percentile(phase->buckets, 0.25, phase->max_ns));
	json__key_u64(j, "p75_ns", profile__percentile(phase->buckets, 0.75, phase->max_ns));
	json__key_u64(j, "max_ns", phase->max_ns);
	json__key_u64(j, "total_ns", phase->ns);
	json__key_u64(j, "first_ns", phase->first_ns);
	json__key_u64(j, "latest_ns", phase->latest_ns);
	json__key_u64(j, "irregular", phase->irregular);
	json__key_u64(j, "irregular_ns", phase->irregular_ns);
	json__key_u64(j, "summed", phase->summed);
	write_content(j, summary);
	json__key(j, "slowest");
	json__array_begin(j);
	for (size_t i = 0; i < STEP_SLOWEST && phase->slowest[i].ns; i++)
		write_slow(j, summary, &phase->slowest[i]);
	json__array_end(j);
	write_kernels(j, p, summary);
	write_phases(j, summary->thread);
}

void json_steps__write(struct json *j, const struct process *p)
{
	struct step_summary summary;

	step_summary__make(p, &summary);
	json__key(j, "steps");
	if (!summary.thread) {
		json__null(j);
		return;
	}
	json__object_begin(j);
	write_summary(j, p, &summary);
	json__object_end(j);
}
