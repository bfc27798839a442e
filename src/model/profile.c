// SPDX-License-Identifier: BSD-2-Clause
// The profile of a process: its lifetime and the values computed from it, see profile.h.
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "model/model.h"
#include "model/steady.h"

struct profile *profile__new(void)
{
	return calloc(1, sizeof(struct profile));
}

void profile__free(struct profile *profile)
{
	if (!profile)
		return;
	free(profile->functions);
	free(profile->threads);
	free(profile->missed);
	free(profile->sizes);
	free(profile->copies);
	free(profile->repeats);
	free(profile->ignored);
	free(profile->mapped);
	free(profile->stacks);
	steady__free(profile->steady);
	free(profile);
}

bool profile__is_launch(size_t row)
{
	enum operation operation =
		row < api_function_count ? api_functions[row].desc.operation : OP_NONE;

	return operation == OP_LAUNCH || operation == OP_GRAPH_LAUNCH;
}

size_t profile__bytes(const struct profile *profile)
{
	const struct profile *a = profile;

	if (!a)
		return 0;
	return sizeof(*a) + a->function_count * sizeof(*a->functions) +
	       a->thread_count * sizeof(*a->threads) + a->missed_count * sizeof(*a->missed) +
	       a->size_count * sizeof(*a->sizes) + a->copy_count * sizeof(*a->copies) +
	       a->repeat_count * sizeof(*a->repeats) + a->ignored_count * sizeof(*a->ignored) +
	       a->mapped_count * sizeof(*a->mapped) + a->stack_count * sizeof(*a->stacks) +
	       steady__bytes(a->steady);
}

/*
 * Nearest rank: the median of two values is the lower one. The tolerance is needed because 0.99 has
 * no exact double: 0.99 of 100 must stay rank 99.
 */
static uint64_t rank_of(double share, uint64_t total)
{
	double exact = share * (double)total;
	uint64_t rank = (uint64_t)exact;

	if (exact - (double)rank > 1e-9 * (double)total)
		rank++;
	return rank ? rank : 1;
}

uint64_t profile__percentile(const __u64 buckets[TIME_BUCKETS], double share, uint64_t max_ns)
{
	uint64_t total = 0, below = 0, rank, middle;
	uint32_t bucket = 0;

	for (uint32_t i = 0; i < TIME_BUCKETS; i++)
		total += buckets[i];
	if (!total)
		return 0;
	rank = rank_of(share, total);
	while (bucket < TIME_BUCKETS - 1 && below + buckets[bucket] < rank)
		below += buckets[bucket++];
	middle = time_bucket_start(bucket) +
		 (time_bucket_start(bucket + 1) - time_bucket_start(bucket)) / 2;
	return middle < max_ns ? middle : max_ns;
}

uint64_t profile__wall_ns(const struct thread_profile *thread, uint64_t began_ns, uint64_t now_ns)
{
	uint64_t from = thread->start_ns > began_ns ? thread->start_ns : began_ns;
	uint64_t to = thread->ended_ns ? thread->ended_ns : now_ns;

	return to > from ? to - from : 0;
}

uint64_t profile__counted_until_ns(const struct process *process, uint64_t now_ns)
{
	if (process->ended)
		return process->ended_ns;
	return process->profile && process->profile->counted_ns > now_ns ?
		       process->profile->counted_ns :
		       now_ns;
}

uint64_t profile__first_call_ns(const struct profile *profile)
{
	uint64_t first_ns = 0;

	for (size_t i = 0; i < profile->thread_count; i++) {
		uint64_t ns = profile->threads[i].first_ns;

		if (ns && (!first_ns || ns < first_ns))
			first_ns = ns;
	}
	return first_ns;
}

uint64_t profile__inside_ns(const struct thread_profile *thread)
{
	uint64_t ns = 0;

	for (int i = 0; i < TIME_CLASSES; i++)
		ns += thread->time[i].ns;
	return ns;
}

static void add_times(struct profile_time *time, const struct time_totals more[TIME_CLASSES])
{
	for (int i = 0; i < TIME_CLASSES; i++) {
		time->time[i].calls += more[i].calls;
		time->time[i].ns += more[i].ns;
	}
}

static void finish_time(struct profile_time *time)
{
	for (int i = 0; i < TIME_CLASSES; i++)
		time->inside_ns += time->time[i].ns;
	/* A call in progress during the reading may be in one sum and not yet in the other. */
	time->outside_ns = time->wall_ns > time->inside_ns ? time->wall_ns - time->inside_ns : 0;
}

static void add_thread(struct profile_time *time, const struct thread_profile *thread,
		       uint64_t began_ns, uint64_t now_ns)
{
	time->threads++;
	time->wall_ns += profile__wall_ns(thread, began_ns, now_ns);
	add_times(time, thread->time);
}

/* NULL: nothing is estimated for it. */
static const struct thread_missed *missed_of(const struct profile *profile,
					     const struct thread_profile *thread)
{
	size_t index = (size_t)(thread - profile->threads);

	return index < profile->missed_count ? &profile->missed[index] : NULL;
}

void profile__thread_time(const struct profile *profile, const struct thread_profile *thread,
			  uint64_t began_ns, uint64_t now_ns, struct profile_time *time)
{
	const struct thread_missed *missed = missed_of(profile, thread);

	*time = (struct profile_time){0};
	add_thread(time, thread, began_ns, now_ns);
	if (missed)
		add_times(time, missed->time);
	finish_time(time);
}

void profile__sum_time(const struct profile *profile, uint64_t began_ns, uint64_t now_ns,
		       struct profile_time *time)
{
	*time = (struct profile_time){.threads = profile->unlisted_threads,
				      .wall_ns = profile->unlisted_wall_ns};
	add_times(time, profile->unlisted_time);
	for (size_t i = 0; i < profile->thread_count; i++)
		add_thread(time, &profile->threads[i], began_ns, now_ns);
	add_times(time, profile->all_missed.time);
	finish_time(time);
}

void profile__unlisted_time(const struct profile *profile, struct time_totals time[TIME_CLASSES])
{
	for (int class = 0; class < TIME_CLASSES; class ++) {
		time[class].calls =
			profile->unlisted_time[class].calls + profile->all_missed.time[class].calls;
		time[class].ns =
			profile->unlisted_time[class].ns + profile->all_missed.time[class].ns;
		for (size_t i = 0; i < profile->missed_count; i++) {
			time[class].calls -= profile->missed[i].time[class].calls;
			time[class].ns -= profile->missed[i].time[class].ns;
		}
	}
}

uint64_t profile__missed_launches(const struct profile *profile,
				  const struct thread_profile *thread)
{
	const struct thread_missed *missed = missed_of(profile, thread);

	return missed ? missed->launches : 0;
}

/* Queries and event records belong to TIME_OTHER, which gets no estimates. */
static enum rate_family family_of(enum time_class class)
{
	switch (class) {
	case TIME_LAUNCH: return RATE_LAUNCH;
	case TIME_COPY: return RATE_COPY;
	case TIME_WAIT: return RATE_WAIT;
	default: return RATE_EXACT;
	}
}

bool time_class__is_estimated(enum time_class class, const struct process *process)
{
	return process__is_estimated(process, family_of(class));
}

bool profile__is_estimated(const struct process *process)
{
	for (enum time_class class = 0; class < TIME_CLASSES; class ++)
		if (time_class__is_estimated(class, process))
			return true;
	return false;
}

static int by_time_inside(const void *a, const void *b)
{
	const struct thread_profile *x = *(const struct thread_profile *const *)a;
	const struct thread_profile *y = *(const struct thread_profile *const *)b;
	uint64_t x_ns = profile__inside_ns(x), y_ns = profile__inside_ns(y);

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

const struct thread_profile **profile__threads_by_time(const struct profile *profile)
{
	const struct thread_profile **threads =
		malloc((profile->thread_count + 1) * sizeof(*threads));

	if (!threads)
		return NULL;
	for (size_t i = 0; i < profile->thread_count; i++)
		threads[i] = &profile->threads[i];
	qsort(threads, profile->thread_count, sizeof(*threads), by_time_inside);
	return threads;
}

uint64_t profile_function__ns(const struct profile_function *function)
{
	return function->time.ns + function->time.unfinished_ns + function->missed_ns +
	       function->open_ns;
}

uint64_t profile__errors(const struct process *process, uint16_t row)
{
	uint64_t failures = 0;

	for (size_t i = 0; i < process->function_count; i++)
		if (process->functions[i].row == row)
			failures += process->functions[i].failures;
	return failures;
}

const struct stack *profile__stack(const struct profile *profile, uint64_t id)
{
	for (size_t i = 0; id && i < profile->stack_count; i++)
		if (profile->stacks[i].id == id)
			return profile->stacks[i].stack;
	return NULL;
}
