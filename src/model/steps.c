// SPDX-License-Identifier: BSD-2-Clause
// The steps of a process, see steps.h.
#include "model/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/profile.h"
#include "model/model.h"

/* a thread with a smaller share of its process's launches does not determine its steps */
#define OF_ALL_LAUNCHES 0.1
#define STEADY_TIMES 2 /* at most this many times the median */
#define UNEVEN 2       /* times the median: if the mean is longer than this, it says more */
/* step counts that differ by less belong to the same steps, of several threads */
#define AS_MANY 1.2

struct process_steps *process_steps__new(void)
{
	return calloc(1, sizeof(struct process_steps));
}

void process_steps__free(struct process_steps *steps)
{
	if (!steps)
		return;
	for (size_t i = 0; i < steps->count; i++) {
		free(steps->threads[i]->round);
		free(steps->threads[i]);
	}
	free(steps->threads);
	free(steps);
}

size_t process_steps__bytes(const struct process_steps *steps)
{
	size_t bytes = steps ? sizeof(*steps) : 0;

	for (size_t i = 0; steps && i < steps->count; i++)
		bytes += sizeof(*steps->threads[i]) +
			 steps->threads[i]->round_length * sizeof(uint64_t);
	return bytes;
}

struct step_thread *process_steps__add(struct process_steps *steps)
{
	struct step_thread *thread;

	if (steps->count >= STEP_THREADS_KEPT || ARRAY_RESERVE(steps->threads, steps->count, 1))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (thread)
		steps->threads[steps->count++] = thread;
	return thread;
}

/* --- phases --- */

/* Slowest first. */
static void keep_slow(struct step_phase *phase, const struct slow_step *step)
{
	size_t at = STEP_SLOWEST;

	if (!step->ns || phase->slowest[STEP_SLOWEST - 1].ns >= step->ns)
		return;
	while (at && phase->slowest[at - 1].ns < step->ns)
		at--;
	memmove(&phase->slowest[at + 1], &phase->slowest[at],
		(STEP_SLOWEST - 1 - at) * sizeof(*phase->slowest));
	phase->slowest[at] = *step;
}

static void note_span(struct step_phase *phase, uint64_t begin_ns, uint64_t end_ns)
{
	if (!phase->first_ns || begin_ns < phase->first_ns)
		phase->first_ns = begin_ns;
	if (end_ns > phase->latest_ns)
		phase->latest_ns = end_ns;
}

void step_phase__add(struct step_phase *phase, uint64_t begin_ns, uint64_t ns)
{
	const struct slow_step step = {.begin_ns = begin_ns, .ns = ns};

	phase->steps++;
	phase->ns += ns;
	phase->buckets[time_bucket(ns)]++;
	if (ns > phase->max_ns)
		phase->max_ns = ns;
	note_span(phase, begin_ns, begin_ns + ns);
	keep_slow(phase, &step);
	if (phase->first_count == STEP_FIRSTS || phase->summed)
		return;
	phase->first[phase->first_count].begin_ns = begin_ns;
	phase->first[phase->first_count++].ns = ns;
}

static void add_sums(struct step_sums *sums, const struct step_sums *more)
{
	uint64_t *to = (uint64_t *)sums;
	const uint64_t *from = (const uint64_t *)more;

	for (size_t i = 0; i < sizeof(*sums) / sizeof(*to); i++)
		to[i] += from[i];
}

void step_phase__add_record(struct step_phase *phase, const struct step_record *record)
{
	phase->irregular += record->irregular;
	phase->irregular_ns += record->irregular_ns;
	if (!record->steps)
		return;
	phase->steps += record->steps;
	phase->summed += record->steps;
	phase->ns += record->ns;
	if (record->max_ns > phase->max_ns)
		phase->max_ns = record->max_ns;
	add_sums(&phase->sums, &record->sums);
	for (size_t i = 0; i < TIME_BUCKETS; i++)
		phase->buckets[i] += record->buckets[i];
	for (size_t i = 0; i < STEP_SLOWEST; i++)
		keep_slow(phase, &record->slowest[i]);
	note_span(phase, record->first_ns, record->begin_ns);
}

void step_phase__forget_sums(struct step_phase *phase, uint64_t steps, const struct step_sums *sums)
{
	uint64_t *from = (uint64_t *)&phase->sums;
	const uint64_t *less = (const uint64_t *)sums;

	phase->summed -= steps;
	for (size_t i = 0; i < sizeof(*sums) / sizeof(*from); i++)
		from[i] -= less[i];
}

uint64_t step_phase__steady_ns(const struct step_phase *phase)
{
	uint64_t most = STEADY_TIMES * profile__percentile(phase->buckets, 0.5, phase->max_ns);

	for (size_t i = 0; i + 1 < phase->first_count; i++)
		if (phase->first[i].ns <= most && phase->first[i + 1].ns <= most)
			return phase->first[i].begin_ns;
	return phase->first_count ? phase->first[phase->first_count - 1].begin_ns : phase->first_ns;
}

static bool is_rather_main_phase(const struct step_phase *phase, const struct step_phase *other)
{
	if (phase->sampled != other->sampled)
		return other->sampled;
	return phase->ns > other->ns;
}

const struct step_phase *step_thread__main_phase(const struct step_thread *thread)
{
	const struct step_phase *best = NULL;

	for (size_t i = 0; i < thread->phase_count; i++)
		if (thread->phases[i].steps &&
		    (!best || is_rather_main_phase(&thread->phases[i], best)))
			best = &thread->phases[i];
	return best;
}

/* --- of a process --- */

static uint64_t acts_of(const struct step_thread *thread)
{
	const struct step_sums *totals = &thread->totals;

	return totals->waits + totals->copies[STEP_TO_DEVICE] + totals->copies[STEP_TO_HOST];
}

/*
 * Prefers the thread with fewer steps. If the counts are about equal, prefers the thread that
 * copies and waits: the other one works for it.
 */
static bool is_rather_main(const struct process *process, const struct step_thread *thread,
			   const struct step_thread *other)
{
	double steps = (double)step_thread__main_phase(thread)->steps;
	double others = (double)step_thread__main_phase(other)->steps;

	if (steps > AS_MANY * others || others > AS_MANY * steps)
		return steps < others;
	if (acts_of(thread) != acts_of(other))
		return acts_of(thread) > acts_of(other);
	return thread->tid == process->pid;
}

static const struct step_thread *find_main(const struct process *process,
					   const struct process_steps *steps)
{
	const struct step_thread *best = NULL;
	uint64_t launches = 0;

	for (size_t i = 0; i < steps->count; i++)
		launches += steps->threads[i]->totals.launches;
	for (size_t i = 0; i < steps->count; i++) {
		const struct step_thread *thread = steps->threads[i];

		if (!step_thread__main_phase(thread) ||
		    (!thread->range &&
		     (double)thread->totals.launches < OF_ALL_LAUNCHES * (double)launches))
			continue;
		if (!best || is_rather_main(process, thread, best))
			best = thread;
	}
	return best;
}

static void divide(struct step_summary *summary, const struct step_sums *sums, double steps)
{
	summary->launches = (double)sums->launches / steps;
	for (int i = 0; i < STEP_DIRECTIONS; i++) {
		summary->copies[i] = (double)sums->copies[i] / steps;
		summary->bytes[i] = (double)sums->bytes[i] / steps;
	}
	summary->waits = (double)sums->waits / steps;
	summary->allocations = (double)sums->allocations / steps;
	summary->frees = (double)sums->frees / steps;
	for (int i = 0; i < TIME_CLASSES; i++)
		summary->inside_ns[i] = (double)sums->inside[i] / steps;
}

/* Adds what the other threads submit in their own, concurrent steps. */
static void add_listed(struct step_summary *summary, const struct process_steps *steps)
{
	double own = (double)summary->phase->steps;

	for (size_t i = 0; i < steps->count; i++) {
		const struct step_thread *thread = steps->threads[i];
		const struct step_phase *phase = step_thread__main_phase(thread);

		if (thread == summary->thread || !phase || !phase->listed)
			continue;
		summary->launches += (double)phase->listed_sums.launches / (double)phase->listed *
				     (double)phase->steps / own;
	}
}

void step_summary__make(const struct process *process, struct step_summary *summary)
{
	const struct process_steps *steps = process->steps;
	const struct step_thread *thread = steps ? find_main(process, steps) : NULL;
	const struct step_phase *phase = thread ? step_thread__main_phase(thread) : NULL;

	*summary = (struct step_summary){0};
	if (!phase)
		return;
	summary->thread = thread;
	summary->phase = phase;
	summary->mean_ns = (double)phase->ns / (double)phase->steps;
	summary->p50_ns = profile__percentile(phase->buckets, 0.5, phase->max_ns);
	/* While launches are sampled, the time of steps that were not seen is in the mean. */
	summary->usual_ns = summary->mean_ns > UNEVEN * (double)summary->p50_ns &&
					    !process__is_estimated(process, RATE_LAUNCH) ?
				    (uint64_t)summary->mean_ns :
				    summary->p50_ns;
	summary->p99_ns = profile__percentile(phase->buckets, 0.99, phase->max_ns);
	summary->sums_known = phase->summed > 0;
	if (phase->summed) {
		divide(summary, &phase->sums, (double)phase->summed);
	} else if (phase->listed) {
		divide(summary, &phase->listed_sums, (double)phase->listed);
		add_listed(summary, steps);
	}
}

enum step_excess step_summary__excess(const struct step_summary *summary,
				      const struct slow_step *step, uint64_t *ns)
{
	double outside = (double)step->ns, usual = summary->mean_ns, most;
	enum step_excess excess = STEP_EXCESS_OUTSIDE;

	*ns = 0;
	if (!step->sums.launches || !summary->sums_known)
		return STEP_EXCESS_UNKNOWN;
	for (int i = 0; i < TIME_CLASSES; i++) {
		outside -= (double)step->sums.inside[i];
		usual -= summary->inside_ns[i];
	}
	most = outside - usual;
	for (int i = 0; i < TIME_CLASSES; i++) {
		double more = (double)step->sums.inside[i] - summary->inside_ns[i];

		if (more <= most)
			continue;
		most = more;
		excess = STEP_EXCESS_INSIDE + (enum step_excess)i;
	}
	*ns = most > 0 ? (uint64_t)most : 0;
	return excess;
}
