// SPDX-License-Identifier: BSD-2-Clause
// Missed calls of functions, see estimate_functions.h.
#include "govern/estimate_functions.h"

#include <errno.h>

#include "model/profile.h"
#include "api/api.h"

static enum operation operation_of(const struct profile_function *function)
{
	return api_functions[function->row].desc.operation;
}

static enum time_class class_of(const struct profile_function *function)
{
	switch (rate_family_of((uint8_t)operation_of(function))) {
	case RATE_LAUNCH: return TIME_LAUNCH;
	case RATE_COPY: return TIME_COPY;
	default: return operation_of(function) == OP_WAIT ? TIME_WAIT : TIME_OTHER;
	}
}

int estimate_functions__begin(struct sharing *sharing)
{
	for (size_t i = 0; i < sharing->profile->function_count; i++) {
		const struct profile_function *function = &sharing->profile->functions[i];
		const struct counter_key key = {.row = function->row, .of = COUNTER_DURATION};
		struct portion *portion = &sharing->functions[i];

		portion->now =
			(struct tally){.calls = function->time.calls, .ns = function->time.ns};
		if (rate_family_of((uint8_t)operation_of(function)) == RATE_EXACT)
			continue;
		portion->counter = counter__of(sharing->own, &key);
		if (!portion->counter)
			return -ENOMEM;
		portion->shares = api__tally_family(function->row) == RATE_EXACT;
	}
	return 0;
}

static uint64_t missed_of_tallies(const struct process_estimates *own, uint16_t row)
{
	const struct counter *counter;
	uint64_t missed = 0;

	for (counter = own->counters; counter; counter = counter->hh.next)
		if (counter->key.of == COUNTER_TALLY && counter->key.row == row)
			missed += counter->missed.calls + counter->missed.failures;
	return missed;
}

/* Functions with tallies. */
static void give_as_tallies(struct sharing *sharing)
{
	for (size_t i = 0; i < sharing->profile->function_count; i++) {
		struct portion *portion = &sharing->functions[i];
		uint64_t missed;

		if (!portion->counter || portion->shares)
			continue;
		missed = missed_of_tallies(sharing->own, sharing->profile->functions[i].row);
		portion__take_in(portion);
		portion__give(portion, above(missed, portion->counter->missed.calls));
	}
}

/*
 * Launches whose entry was seen but whose return was missed, because the probes were detached in
 * between: kernels count them, functions and threads do not. Computed only once no more calls will
 * come: until then a call may simply not have returned yet.
 */
static uint64_t cut_launches(const struct sharing *sharing, uint64_t missed)
{
	const struct process *process = sharing->process;
	uint64_t returned = missed, cut;

	if (!sharing->span->over)
		return 0;
	for (size_t i = 0; i < sharing->profile->function_count; i++) {
		const struct profile_function *function = &sharing->profile->functions[i];

		/* One such call makes several launches. */
		if (operation_of(function) == OP_LAUNCH_LIST)
			return 0;
		if (operation_of(function) == OP_LAUNCH)
			returned += function->time.calls;
	}
	cut = above(process->launches + process->captured_launches, returned);
	/* Each such launch is followed by missed calls. */
	return cut < missed ? cut : missed;
}

/* Functions that launch kernels. */
static void give_as_kernels(struct sharing *sharing)
{
	struct process_estimates *own = sharing->own;
	uint64_t missed = own->missed_launches[0] + own->missed_launches[1], given = 0;

	own->cut_launches = cut_launches(sharing, missed);
	for (size_t i = 0; i < sharing->profile->function_count; i++)
		if (sharing->functions[i].shares)
			given += sharing->functions[i].counter->missed.calls;
	portions__share_out(sharing->functions, sharing->profile->function_count,
			    above(missed + own->cut_launches, given));
}

void estimate_functions__give(struct sharing *sharing)
{
	give_as_tallies(sharing);
	give_as_kernels(sharing);
}

uint64_t estimate_functions__missed(const struct sharing *sharing, enum time_class class)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < sharing->profile->function_count; i++)
		if (sharing->functions[i].counter &&
		    class_of(&sharing->profile->functions[i]) == class)
			calls += sharing->functions[i].counter->missed.calls;
	return calls;
}

/* Based on the function's own durations. */
static uint64_t usual_ns(const struct portion *portion)
{
	return portion->counter ? counter__ns(portion->counter, portion->calls) : 0;
}

uint64_t estimate_functions__usual_ns(const struct sharing *sharing, enum time_class class)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < sharing->profile->function_count; i++)
		if (class_of(&sharing->profile->functions[i]) == class)
			ns += usual_ns(&sharing->functions[i]);
	return ns;
}

/* Functions get the time that threads got, in proportion to their usual durations. */
static void give_time(struct sharing *sharing, enum time_class class)
{
	uint64_t usual = estimate_functions__usual_ns(sharing, class), ns = sharing->ns[class];
	struct portion *last = NULL;

	for (size_t i = 0; i < sharing->profile->function_count; i++) {
		struct portion *portion = &sharing->functions[i];

		if (class_of(&sharing->profile->functions[i]) != class || !usual_ns(portion))
			continue;
		last = portion;
		portion->ns = (uint64_t)((double)usual_ns(portion) *
					 ((double)sharing->ns[class] / (double)usual));
		portion->ns = portion->ns < ns ? portion->ns : ns;
		ns -= portion->ns;
	}
	if (last)
		last->ns += ns;
}

void estimate_functions__end(struct sharing *sharing)
{
	for (enum time_class class = 0; class < TIME_CLASSES; class ++)
		give_time(sharing, class);
	for (size_t i = 0; i < sharing->profile->function_count; i++) {
		struct profile_function *function = &sharing->profile->functions[i];
		struct portion *portion = &sharing->functions[i];

		function->missed = function->missed_ns = 0;
		if (!portion->counter)
			continue;
		portion->counter->missed.ns += portion->ns;
		function->missed = portion->counter->missed.calls;
		function->missed_ns = portion->counter->missed.ns;
	}
}
