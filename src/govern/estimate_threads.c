// SPDX-License-Identifier: BSD-2-Clause
// Missed calls of threads, see estimate_threads.h.
#include "govern/estimate_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "govern/estimate_functions.h"
#include "model/profile.h"
#include "api/api.h"

/* Amounts given to threads, each distributed separately. */
enum thread_amount {
	AMOUNT_LAUNCH = 0, /* calls of a time class */
	AMOUNT_COPY,
	AMOUNT_WAIT,
	AMOUNT_CLASSES,
	AMOUNT_LAUNCHES = AMOUNT_CLASSES, /* thread_profile.launches */
	AMOUNTS,
};

_Static_assert(AMOUNTS == THREAD_AMOUNTS, "process_estimates has all of them");

static const enum time_class class_of_amount[AMOUNTS] = {TIME_LAUNCH, TIME_COPY, TIME_WAIT,
							 TIME_LAUNCH};

/* The thread's counter for the amount. */
static struct tally reported_by(const struct thread_profile *thread, enum thread_amount amount)
{
	const struct time_totals *time = &thread->time[class_of_amount[amount]];

	if (amount == AMOUNT_LAUNCHES)
		return (struct tally){.calls = thread->launches};
	return (struct tally){.calls = time->calls, .ns = time->ns};
}

static struct counter *thread_counter(struct process_estimates *own,
				      const struct thread_profile *thread,
				      enum thread_amount amount)
{
	struct counter_key key = {.of = COUNTER_THREAD, .what = (uint8_t)amount};
	struct counter *counter;

	if (thread) {
		key.kernels = thread->start_ns;
		key.tid = thread->tid;
	}
	counter = counter__of(own, &key);
	if (counter)
		counter->reading = own->reading;
	return counter;
}

/*
 * Threads that left the list keep their totals; calls since then appear only in the process-wide
 * sum.
 */
static void report_unlisted(struct sharing *sharing, enum thread_amount amount,
			    struct portion *unlisted)
{
	const struct profile *profile = sharing->profile;
	const struct time_totals *time = &profile->unlisted_time[class_of_amount[amount]];
	struct tally all = {.calls = time->calls, .ns = time->ns}, listed = {0};
	struct tally *before = &sharing->own->reported[amount];

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct tally now = reported_by(&profile->threads[i], amount);
		const struct tally fresh = counter__fresh(sharing->threads[i].counter, &now);

		all.calls += now.calls;
		all.ns += now.ns;
		listed.calls += fresh.calls;
		listed.ns += fresh.ns;
	}
	unlisted->now.calls =
		unlisted->counter->weighed.calls + above(all.calls, before->calls + listed.calls);
	unlisted->now.ns = unlisted->counter->weighed.ns + above(all.ns, before->ns + listed.ns);
	*before = all;
}

static int begin_amount(struct sharing *sharing, enum thread_amount amount)
{
	size_t count = sharing->profile->thread_count;

	for (size_t i = 0; i <= count; i++) {
		const struct thread_profile *thread =
			i < count ? &sharing->profile->threads[i] : NULL;
		struct portion *portion = &sharing->threads[i];

		*portion = (struct portion){.shares = true};
		portion->counter = thread_counter(sharing->own, thread, amount);
		if (!portion->counter)
			return -ENOMEM;
		if (thread)
			portion->now = reported_by(thread, amount);
	}
	report_unlisted(sharing, amount, &sharing->threads[count]);
	return 0;
}

/* The total of this amount that threads should have so far. */
static uint64_t amount_of(const struct sharing *sharing, enum thread_amount amount)
{
	const struct process_estimates *own = sharing->own;
	const struct counter *counter;
	uint64_t calls = 0;

	if (amount != AMOUNT_LAUNCHES)
		return estimate_functions__missed(sharing, class_of_amount[amount]);
	for (counter = own->counters; counter; counter = counter->hh.next)
		if (counter->key.of == COUNTER_TALLY && !(counter->key.flags & TALLY_CAPTURED) &&
		    api_functions[counter->key.row].desc.operation == OP_GRAPH_LAUNCH)
			calls += counter->missed.calls + counter->missed.failures;
	return calls + own->missed_launches[0] + own->cut_launches;
}

/* Limits the time of the calls given in this reading to the threads' lifetimes. */
static void take_time(struct sharing *sharing, enum thread_amount amount)
{
	for (size_t i = 0; i <= sharing->profile->thread_count; i++) {
		struct portion *portion = &sharing->threads[i];

		portion->ns = counter__ns(portion->counter, portion->calls);
		portion->ns = portion->ns < sharing->room_ns[i] ? portion->ns : sharing->room_ns[i];
		portion->counter->missed.ns += portion->ns;
		sharing->room_ns[i] -= portion->ns;
		sharing->ns[class_of_amount[amount]] += portion->ns;
		sharing->own->given[amount].ns += portion->ns;
	}
}

static int share_amount(struct sharing *sharing, enum thread_amount amount)
{
	uint64_t calls = above(amount_of(sharing, amount), sharing->own->given[amount].calls);
	int ret = begin_amount(sharing, amount);
	bool shared;

	if (ret)
		return ret;
	shared = portions__share_out(sharing->threads, sharing->profile->thread_count + 1, calls);
	sharing->own->given[amount].calls += calls;
	if (amount >= AMOUNT_CLASSES)
		return 0;
	if (shared)
		take_time(sharing, amount);
	else /* The threads of these calls are unknown. */
		sharing->ns[class_of_amount[amount]] =
			estimate_functions__usual_ns(sharing, class_of_amount[amount]);
	return 0;
}

/* Adds up what the thread has been given of the amount in all readings, and its time. */
static int add_missed(struct sharing *sharing, enum thread_amount amount, size_t i,
		      struct thread_missed *missed)
{
	const struct counter *counter =
		thread_counter(sharing->own, &sharing->profile->threads[i], amount);

	if (!counter)
		return -ENOMEM;
	if (amount == AMOUNT_LAUNCHES)
		missed->launches = counter->missed.calls;
	else
		missed->time[class_of_amount[amount]] = (struct time_totals){
			.calls = counter->missed.calls, .ns = counter->missed.ns};
	return 0;
}

static int list_missed(struct sharing *sharing)
{
	struct profile *profile = sharing->profile;
	int ret = 0;

	memset(profile->missed, 0, profile->thread_count * sizeof(*profile->missed));
	for (size_t i = 0; i < profile->thread_count; i++)
		for (enum thread_amount amount = 0; amount < AMOUNTS && !ret; amount++)
			ret = add_missed(sharing, amount, i, &profile->missed[i]);
	for (enum thread_amount amount = 0; amount < AMOUNT_CLASSES; amount++)
		profile->all_missed.time[class_of_amount[amount]] = sharing->own->given[amount];
	profile->all_missed.launches = sharing->own->given[AMOUNT_LAUNCHES].calls;
	return ret;
}

static uint64_t time_ns(const struct time_totals time[TIME_CLASSES])
{
	uint64_t ns = 0;

	for (int class = 0; class < TIME_CLASSES; class ++)
		ns += time[class].ns;
	return ns;
}

/* For each thread, and for the unlisted ones together. */
static void find_room(struct sharing *sharing)
{
	const struct profile *profile = sharing->profile;
	uint64_t unlisted_ns = time_ns(profile->unlisted_time) + time_ns(profile->all_missed.time);

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct thread_profile *thread = &profile->threads[i];
		uint64_t missed_ns = time_ns(profile->missed[i].time);
		uint64_t wall_ns =
			profile__wall_ns(thread, sharing->span->began_ns, sharing->span->now_ns);

		sharing->room_ns[i] = above(wall_ns, profile__inside_ns(thread) + missed_ns);
		unlisted_ns -= missed_ns;
	}
	sharing->room_ns[profile->thread_count] = above(profile->unlisted_wall_ns, unlisted_ns);
}

/*
 * Drops counters of threads that left the list; what they were given is in the sum of all threads.
 */
static void drop_gone(struct process_estimates *own)
{
	TABLE_DROP(own->counters, counter,
		   counter->key.of == COUNTER_THREAD && counter->reading != own->reading, free);
}

int estimate_threads__share(struct sharing *sharing)
{
	int ret = list_missed(sharing);

	if (!ret)
		find_room(sharing);
	for (enum thread_amount amount = 0; amount < AMOUNTS && !ret; amount++)
		ret = share_amount(sharing, amount);
	sharing->ns[TIME_OTHER] = estimate_functions__usual_ns(sharing, TIME_OTHER);
	if (!ret)
		ret = list_missed(sharing);
	drop_gone(sharing->own);
	return ret;
}
