// SPDX-License-Identifier: BSD-2-Clause
// Threads and processes as the overhead governor sees them, see threads.h.
#include "govern/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int governed_threads__init(struct governed_threads *threads)
{
	*threads = (struct governed_threads){.rates = calloc(RATE_THREADS, sizeof(*threads->rates))};
	return threads->rates ? 0 : -ENOMEM;
}

static void drop(struct governed_threads *threads, struct governed_thread *thread)
{
	HASH_DEL(threads->table, thread);
	free(thread);
}

void governed_threads__clear(struct governed_threads *threads)
{
	struct governed_thread *thread, *next;

	HASH_ITER(hh, threads->table, thread, next)
		drop(threads, thread);
	free(threads->processes);
	free(threads->rates);
}

static struct governed_process *process_at(struct governed_threads *threads, uint32_t slot)
{
	size_t count = (size_t)slot + 1;
	struct governed_process *grown;

	if (slot < threads->process_count)
		return &threads->processes[slot];
	grown = realloc(threads->processes, count * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + threads->process_count, 0, (count - threads->process_count) * sizeof(*grown));
	threads->processes = grown;
	threads->process_count = count;
	return &grown[slot];
}

static struct governed_thread *thread_of(struct governed_threads *threads, const struct thread_rate *rate)
{
	const struct governed_key key = {.start_ns = rate->start_ns, .tid = rate->tid, .slot = rate->slot};
	struct governed_thread *thread;

	HASH_FIND(hh, threads->table, &key, sizeof(key), thread);
	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->key = key;
	HASH_ADD(hh, threads->table, key, sizeof(key), thread);
	if (thread->hh.tbl)
		return thread;
	free(thread);
	return NULL;
}

static void take(struct governed_threads *threads, const struct thread_rate *rate)
{
	struct governed_process *process = process_at(threads, rate->slot);
	struct governed_thread *thread = process ? thread_of(threads, rate) : NULL;

	if (!thread) {
		threads->incomplete = true;
		return;
	}
	thread->ended_ns = rate->ended_ns;
	for (int family = 0; family < RATE_FAMILIES; family++) {
		process->seen[family] += rate->calls[family] - thread->calls[family].now;
		thread->calls[family].now = rate->calls[family];
	}
}

uint64_t governed_threads__read(struct governed_threads *threads, const struct governor_hooks *hooks)
{
	size_t count = hooks->read(hooks->arg, threads->rates, RATE_THREADS);
	uint64_t now_ns = hooks->now(hooks->arg);

	for (size_t i = 0; i < count; i++)
		take(threads, &threads->rates[i]);
	return now_ns;
}

uint64_t governed_thread__time(const struct governed_thread *thread, uint64_t from_ns, uint64_t to_ns)
{
	if (thread->ended_ns && thread->ended_ns < to_ns)
		to_ns = thread->ended_ns;
	if (thread->key.start_ns > from_ns)
		from_ns = thread->key.start_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

void governed_threads__miss(struct governed_threads *threads, enum rate_family family, uint64_t to_ns)
{
	struct governed_thread *thread, *next;

	HASH_ITER(hh, threads->table, thread, next) {
		struct governed_calls *calls = &thread->calls[family];
		uint64_t ns = governed_thread__time(thread, calls->missed_from, to_ns);

		if (!calls->rated || to_ns <= calls->missed_from)
			continue;
		threads->processes[thread->key.slot].missed[family] += calls->rate_without * (double)ns;
		calls->missed_from = to_ns;
	}
}

const struct governed_process *governed_threads__process(const struct governed_threads *threads, uint32_t slot)
{
	return slot < threads->process_count ? &threads->processes[slot] : NULL;
}

void governed_threads__drop_ended(struct governed_threads *threads)
{
	struct governed_thread *thread, *next;

	HASH_ITER(hh, threads->table, thread, next)
		if (thread->ended_ns)
			drop(threads, thread);
}

void governed_threads__forget(struct governed_threads *threads, uint32_t slot)
{
	struct governed_thread *thread, *next;

	HASH_ITER(hh, threads->table, thread, next)
		if (thread->key.slot == slot)
			drop(threads, thread);
	if (slot < threads->process_count)
		memset(&threads->processes[slot], 0, sizeof(threads->processes[slot]));
}
