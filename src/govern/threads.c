// SPDX-License-Identifier: BSD-2-Clause
// Threads and processes as the overhead governor sees them, see threads.h.
#include "govern/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

/* interval of calls of a family: "many calls" means more than one in this time */
#define MANY_CALLS_NS NS_PER_MS
#define LEAST_ACTIVE 0.03 /* smallest active share of a thread's time */
#define WAITING_FADE 0.75 /* weight of earlier cycles */

int governed_threads__init(struct governed_threads *threads)
{
	*threads =
		(struct governed_threads){.rates = calloc(RATE_THREADS, sizeof(*threads->rates))};
	return threads->rates ? 0 : -ENOMEM;
}

static void drop(struct governed_threads *threads, struct governed_thread *thread)
{
	HASH_DEL(threads->table, thread);
	free(thread);
}

void governed_threads__clear(struct governed_threads *threads)
{
	TABLE_CLEAR(threads->table, free);
	free(threads->processes);
	free(threads->rates);
}

static struct governed_process *process_at(struct governed_threads *threads, uint32_t slot)
{
	const struct governed_process none = {0};

	while (slot >= threads->process_count)
		if (ARRAY_APPEND(threads->processes, threads->process_count, none))
			return NULL;
	return &threads->processes[slot];
}

static struct governed_thread *thread_of(struct governed_threads *threads,
					 const struct thread_rate *rate)
{
	const struct governed_key key = {
		.start_ns = rate->start_ns, .tid = rate->tid, .slot = rate->slot};

	return TABLE_TAKE(threads->table, key, &key);
}

/*
 * A call costs about a microsecond: if there are fewer, the thread's waits for a CPU do not matter.
 */
static bool makes_many_calls(const struct governed_thread *thread, const struct thread_rate *rate,
			     uint64_t ns)
{
	for (int family = 0; family < RATE_FAMILIES; family++) {
		const struct governed_calls *calls = &thread->calls[family];

		if (calls->rate * MANY_CALLS_NS > 1 ||
		    (rate->calls[family] - calls->now) * MANY_CALLS_NS > ns)
			return true;
	}
	return false;
}

static void take_run_time(struct governed_thread *thread, const struct governor_hooks *hooks)
{
	bool was_known = thread->run_known;

	thread->run_known =
		hooks->run_time && hooks->run_time(hooks->arg, thread->key.tid, &thread->run);
	if (was_known)
		return;
	thread->run_at_cycle = thread->run_at_window = thread->run;
	thread->off_ns = thread->waited_ns = 0;
}

static void take(struct governed_threads *threads, const struct thread_rate *rate,
		 const struct governor_hooks *hooks, uint64_t now_ns)
{
	struct governed_process *process = process_at(threads, rate->slot);
	struct governed_thread *thread = process ? thread_of(threads, rate) : NULL;

	if (!thread) {
		threads->incomplete = true;
		return;
	}
	thread->ended_ns = rate->ended_ns;
	if (!thread->ended_ns && makes_many_calls(thread, rate, now_ns - threads->read_ns))
		take_run_time(thread, hooks);
	else if (!thread->ended_ns)
		thread->run_known = false;
	for (int family = 0; family < RATE_FAMILIES; family++) {
		process->seen[family] += rate->calls[family] - thread->calls[family].now;
		thread->calls[family].now = rate->calls[family];
	}
}

uint64_t governed_threads__read(struct governed_threads *threads,
				const struct governor_hooks *hooks)
{
	size_t count = hooks->read(hooks->arg, threads->rates, RATE_THREADS);
	uint64_t now_ns = hooks->now(hooks->arg);

	for (size_t i = 0; i < count; i++)
		take(threads, &threads->rates[i], hooks, now_ns);
	threads->read_ns = now_ns;
	return now_ns;
}

uint64_t governed_thread__time(const struct governed_thread *thread, uint64_t from_ns,
			       uint64_t to_ns)
{
	if (thread->ended_ns && thread->ended_ns < to_ns)
		to_ns = thread->ended_ns;
	if (thread->key.start_ns > from_ns)
		from_ns = thread->key.start_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Time off the CPU. The run time may lag by a clock tick. */
static double off_time(const struct governed_thread *thread, double ns,
		       const struct run_time *before)
{
	double ran = (double)(thread->run.ran_ns - before->ran_ns);

	return ran < ns ? ns - ran : 0;
}

/*
 * Fraction of off-CPU time spent on the run queue, averaged over recent windows: schedstat reports
 * a wait only when the thread runs again, so one short window says nothing.
 */
static double waiting_share(const struct governed_thread *thread, double off_ns, double waited_ns)
{
	double off = thread->off_ns + off_ns, waited = thread->waited_ns + waited_ns;

	return waited < off ? waited / off : 1;
}

double governed_thread__active(const struct governed_thread *thread, uint64_t from_ns,
			       uint64_t to_ns, const struct run_time *before)
{
	double ns = (double)governed_thread__time(thread, from_ns, to_ns),
	       off = off_time(thread, ns, before);
	double waited = (double)(thread->run.waited_ns - before->waited_ns), active;

	if (!thread->run_known)
		return ns;
	active = ns - waiting_share(thread, off, waited) * off;
	return active > ns * LEAST_ACTIVE ? active : ns * LEAST_ACTIVE;
}

void governed_thread__end_cycle(struct governed_thread *thread, uint64_t from_ns, uint64_t to_ns)
{
	double ns = (double)governed_thread__time(thread, from_ns, to_ns);

	for (int family = 0; family < RATE_FAMILIES; family++)
		thread->calls[family].at_cycle = thread->calls[family].now;
	/* If the run time is unknown, this starts anew once it is known. */
	thread->off_ns =
		WAITING_FADE * thread->off_ns + off_time(thread, ns, &thread->run_at_cycle);
	thread->waited_ns = WAITING_FADE * thread->waited_ns +
			    (double)(thread->run.waited_ns - thread->run_at_cycle.waited_ns);
	thread->run_at_cycle = thread->run;
}

void governed_threads__miss(struct governed_threads *threads, enum rate_family family,
			    uint64_t to_ns)
{
	struct governed_thread *thread, *next;

	HASH_ITER (hh, threads->table, thread, next) {
		struct governed_calls *calls = &thread->calls[family];
		uint64_t ns = governed_thread__time(thread, calls->missed_from, to_ns);

		if (!calls->rated || to_ns <= calls->missed_from)
			continue;
		threads->processes[thread->key.slot].missed[family] +=
			calls->rate_without * (double)ns;
		calls->gap_ns += (double)ns;
		calls->missed_from = to_ns;
	}
}

void governed_threads__rate(struct governed_threads *threads, struct governed_thread *thread,
			    enum rate_family family, double rate_without)
{
	struct governed_calls *calls = &thread->calls[family];

	threads->processes[thread->key.slot].missed[family] +=
		(rate_without - calls->rate_without) / 2 * calls->gap_ns;
	calls->rate_without = rate_without;
	calls->gap_ns = 0;
}

void governed_threads__report(struct governed_threads *threads)
{
	for (size_t i = 0; i < threads->process_count; i++) {
		struct governed_process *process = &threads->processes[i];

		for (int family = 0; family < RATE_FAMILIES; family++)
			if (process->missed[family] > (double)process->reported[family])
				process->reported[family] = (uint64_t)process->missed[family];
	}
}

const struct governed_process *governed_threads__process(const struct governed_threads *threads,
							 uint32_t slot)
{
	return slot < threads->process_count ? &threads->processes[slot] : NULL;
}

void governed_threads__drop_ended(struct governed_threads *threads)
{
	struct governed_thread *thread, *next;

	HASH_ITER (hh, threads->table, thread, next)
		if (thread->ended_ns)
			drop(threads, thread);
}

void governed_threads__forget(struct governed_threads *threads, uint32_t slot)
{
	struct governed_thread *thread, *next;

	HASH_ITER (hh, threads->table, thread, next)
		if (thread->key.slot == slot)
			drop(threads, thread);
	if (slot < threads->process_count)
		memset(&threads->processes[slot], 0, sizeof(threads->processes[slot]));
}
