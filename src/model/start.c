// SPDX-License-Identifier: BSD-2-Clause
// The startup of a process, see start.h.
#include "model/start.h"

#include "model/profile.h"
#include "model/model.h"
#include "model/steps.h"

#define OVER_NS 5000000000ull /* after this time the first steady step is final */

static const struct thread_profile *find_thread(const struct profile *profile, int32_t tid)
{
	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].tid == tid)
			return &profile->threads[i];
	return NULL;
}

static uint64_t steady_of(const struct process *process)
{
	struct step_summary steps;

	step_summary__make(process, &steps);
	return steps.phase ? step_phase__steady_ns(steps.phase) : 0;
}

/* --- readings --- */

static void read_thread(const struct thread_profile *thread, struct start_sums *sums)
{
	for (int i = 0; i < TIME_CLASSES; i++) {
		sums->inside[i] = thread->time[i].ns;
		sums->setup_inside[i] = thread->setup_inside[i];
	}
	for (int i = 0; i < SETUP_CLASSES; i++)
		sums->setup[i] = thread->setup[i];
	sums->loads = thread->loads;
	sums->uploads = thread->uploads;
}

static void thin_out(struct start_record *record)
{
	if (record->count < START_READINGS)
		return;
	for (size_t i = 0; i < START_READINGS / 2; i++)
		record->readings[i] = record->readings[2 * i];
	record->count = START_READINGS / 2;
}

void start__follow(struct process *process, uint64_t now_ns)
{
	struct profile *profile = process->profile;
	const struct thread_profile *thread = find_thread(profile, profile->totals.launched_tid);
	uint64_t steady_ns = steady_of(process);
	struct start_reading *reading;

	if (!thread || (steady_ns && now_ns > steady_ns + OVER_NS))
		return;
	thin_out(&profile->start);
	reading = &profile->start.readings[profile->start.count++];
	*reading = (struct start_reading){.ns = now_ns};
	read_thread(thread, &reading->sums);
}

/* --- summary --- */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Divides the time up to `read_ns`, when the sums were read, and the rest up to `end_ns`. */
static void divide(const struct process_start *start, const struct start_sums *sums,
		   uint64_t read_ns, uint64_t end_ns, uint64_t parts[START_PARTS])
{
	static const enum start_part of_class[TIME_CLASSES] = {
		[TIME_LAUNCH] = START_LAUNCHES, [TIME_MEMORY] = START_MEMORY,
		[TIME_COPY] = START_COPIES,	[TIME_WAIT] = START_WAITS,
		[TIME_OTHER] = START_CALLS,
	};
	uint64_t inside = 0;

	for (int i = 0; i < TIME_CLASSES; i++) {
		parts[of_class[i]] = less(sums->inside[i], sums->setup_inside[i]);
		inside += sums->inside[i];
	}
	parts[START_DRIVER] = sums->setup[SETUP_INIT];
	parts[START_CONTEXT] = sums->setup[SETUP_CONTEXT];
	parts[START_MODULES] = sums->setup[SETUP_MODULE];
	parts[START_GRAPHS] = sums->setup[SETUP_GRAPH];
	parts[START_BEFORE] = less(start->called_ns, start->begin_ns);
	parts[START_HOST] = less(less(read_ns, start->called_ns), inside);
	parts[START_REST] = less(end_ns, read_ns);
}

/* The latest reading before the first steady step; NULL: none after the first launch. */
static const struct start_reading *reading_before(const struct process *process,
						  const struct process_start *start)
{
	const struct start_record *record = &process->profile->start;
	const struct start_reading *latest = NULL;

	for (size_t i = 0; i < record->count; i++)
		if (record->readings[i].ns <= start->steady_ns &&
		    record->readings[i].ns > start->launched_ns)
			latest = &record->readings[i];
	return latest;
}

void start__evaluate(const struct process *process, uint64_t began_ns, struct process_start *start)
{
	const struct profile *profile = process->profile;
	const struct start_reading *reading;
	uint64_t steady_ns = steady_of(process);

	*start = (struct process_start){
		.from_begin = !process->since_attach,
		.begin_ns = process->start_ns > began_ns ? process->start_ns : began_ns,
		.called_ns = profile__first_call_ns(profile),
		.launched_ns = profile->totals.launched_ns,
		.tid = profile->totals.launched_tid,
	};
	if (!start->launched_ns)
		return;
	/* Probes count calls a moment before everything is attached. */
	if (start->called_ns && start->called_ns < start->begin_ns)
		start->begin_ns = start->called_ns;
	if (start->launched_ns < start->begin_ns)
		start->begin_ns = start->launched_ns;
	divide(start, &profile->totals.launched, start->launched_ns, start->launched_ns,
	       start->to_launch);
	start->loads = profile->totals.launched.loads;
	start->uploads = profile->totals.launched.uploads;
	if (steady_ns <= start->launched_ns)
		return;
	start->steady_ns = steady_ns;
	reading = reading_before(process, start);
	if (!reading) {
		divide(start, &profile->totals.launched, start->launched_ns, steady_ns,
		       start->to_steady);
		return;
	}
	divide(start, &reading->sums, reading->ns, steady_ns, start->to_steady);
	start->loads = reading->sums.loads;
	start->uploads = reading->sums.uploads;
}
