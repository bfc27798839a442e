/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The governor's threads and probes, controlled by hand: the test sets the calls and the time.
 * Include after cmocka.h.
 */
#ifndef TESTS_GOVERNOR_HAND_H
#define TESTS_GOVERNOR_HAND_H

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "govern/private.h"

#define HAND_THREADS 4
#define HAND_CALL_NS 1000.0 /* cost of a call of any family */
#define BEGIN_NS (1000 * NS_PER_S)
#define MS NS_PER_MS

struct hand {
	uint64_t now_ns;
	struct thread_rate rates[HAND_THREADS];
	bool reported_end[HAND_THREADS];
	size_t count;
	struct run_time run[HAND_THREADS];
	bool knows_run;
	int asked;	  /* number of queries for a run time */
	int watch_result; /* result of the hook */
	unsigned int in;  /* the latest request */
	uint64_t early;	  /* launches of the first thread that are seen before the hook returns */
	int watches;
};

static inline int hand__watch(void *arg, unsigned int families)
{
	struct hand *hand = arg;

	hand->watches++;
	hand->rates[0].calls[RATE_LAUNCH] += hand->early;
	if (!hand->watch_result)
		hand->in = families;
	return hand->watch_result;
}

static inline size_t hand__read(void *arg, struct thread_rate *rates, size_t capacity)
{
	struct hand *hand = arg;
	size_t count = 0;

	for (size_t i = 0; i < hand->count && count < capacity; i++) {
		if (hand->reported_end[i])
			continue;
		rates[count++] = hand->rates[i];
		hand->reported_end[i] = hand->rates[i].ended_ns;
	}
	return count;
}

static inline bool hand__run_time(void *arg, int32_t tid, struct run_time *time)
{
	struct hand *hand = arg;

	hand->asked++;
	*time = hand->run[tid - 1];
	return hand->knows_run;
}

static inline uint64_t hand__now(void *arg)
{
	return ((struct hand *)arg)->now_ns;
}

static inline struct governor_hooks hand__hooks(struct hand *hand)
{
	return (struct governor_hooks){.watch = hand__watch,
				       .read = hand__read,
				       .run_time = hand__run_time,
				       .now = hand__now,
				       .arg = hand};
}

/* Adds a thread to the process in the slot. Returns its number. */
static inline size_t hand__add(struct hand *hand, uint32_t slot, uint64_t start_ns)
{
	assert_true(hand->count < HAND_THREADS);
	hand->rates[hand->count] = (struct thread_rate){
		.slot = slot, .tid = (int32_t)hand->count + 1, .start_ns = start_ns};
	return hand->count++;
}

/* The known state of a thread that must have been read. */
static inline struct governed_thread *hand__thread(const struct governed_threads *threads,
						   size_t number)
{
	struct governed_thread *thread;

	for (thread = threads->table; thread; thread = thread->hh.next)
		if (thread->key.tid == (int32_t)number + 1)
			return thread;
	fail_msg("thread %zu is not known", number);
	return NULL;
}

static inline void assert_about(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-6 * (fabs(wanted) + 1)))
		fail_msg("%.12g is not %.12g", value, wanted);
}

#endif
