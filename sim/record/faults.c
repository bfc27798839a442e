// SPDX-License-Identifier: BSD-2-Clause
/*
 * Failures and latencies on request: CUDA_SIM_FAIL and CUDA_SIM_LATENCY, lists of NAME:WHICH[=CODE]
 * and NAME=DURATION. A call that fails this way does nothing else; a latency passes before the call
 * does its work.
 */
#include "record/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* For shorter waits a sleep would be too imprecise, so spin. */
#define SPIN_NS 50000

enum which { FAIL_ONE, FAIL_FROM, FAIL_EVERY, FAIL_ALL };

struct sim_fault {
	enum which which;
	uint64_t number;
	int result;
	struct sim_fault *next;
};

/* The usual failure of a function of the family; both APIs use the same number. */
static int usual_failure(enum sim_family family)
{
	switch (family) {
	case SIM_ALLOC:
		return 2;	/* out of memory */
	case SIM_FREE:
		return 1;	/* invalid value */
	case SIM_LAUNCH:
		return 701;	/* out of resources for a launch */
	case SIM_COPY:
		return 700;	/* illegal address */
	case SIM_SYNC:
		return 719;	/* a launch failed */
	case SIM_OTHER:
		break;
	}
	return 999;
}

static const char *parse_fault(const char *text, struct sim_fault *fault)
{
	char *end;

	if (*text == '*') {
		fault->which = FAIL_ALL;
		text++;
	} else {
		fault->which = *text == '%' ? FAIL_EVERY : FAIL_ONE;
		text += *text == '%';
		fault->number = strtoull(text, &end, 10);
		if (end == text || !fault->number)
			return NULL;
		text = end;
		if (fault->which == FAIL_ONE && *text == '+') {
			fault->which = FAIL_FROM;
			text++;
		}
	}
	if (*text == '=') {
		fault->result = (int)strtol(text + 1, &end, 10);
		if (end == text + 1 || !fault->result)
			return NULL;
		text = end;
	}
	return text;
}

static void arm_faults(struct sim_function *function)
{
	const char *list = getenv("CUDA_SIM_FAIL");
	const char *text = list;

	while ((text = sim_parse__next_setting(text, function->name, ':')) != NULL) {
		struct sim_fault *fault = calloc(1, sizeof(*fault));

		if (!fault)
			sim_parse__refuse("CUDA_SIM_FAIL", list, "out of memory");
		fault->result = usual_failure(function->family);
		text = parse_fault(text, fault);
		if (!text || (*text && *text != ','))
			sim_parse__refuse("CUDA_SIM_FAIL", list,
					  "expected NAME:N, NAME:N+, NAME:%N or NAME:*, each with "
					  "=CODE or without, in a list with commas");
		fault->next = function->faults;
		function->faults = fault;
	}
}

static void arm_latency(struct sim_function *function)
{
	const char *list = getenv("CUDA_SIM_LATENCY");
	const char *text = sim_parse__next_setting(list, function->name, '=');

	if (!text)
		return;
	function->latency = calloc(1, sizeof(*function->latency));
	if (!function->latency || !sim_parse__latency(text, function->latency, &text) ||
	    (*text && *text != ','))
		sim_parse__refuse("CUDA_SIM_LATENCY", list,
				  "expected NAME=DURATION or NAME=DURATION+DURATION/B in a list "
				  "with commas, units ns, us, ms or s");
}

void sim_faults__arm(struct sim_function *function)
{
	arm_faults(function);
	arm_latency(function);
	sim_hang__arm(function);
	sim_lock__arm(function);
	function->armed = function->faults || function->latency || function->hang || function->lock;
}

static bool is_known(const char *name, size_t length)
{
	for (uint32_t i = 1; i < sim_state.nr_functions; i++)
		if (!strncmp(sim_state.functions[i]->name, name, length) &&
		    !sim_state.functions[i]->name[length])
			return true;
	return false;
}

static void check_list(const char *variable, const char *separator, enum sim_layer layer)
{
	const char *list = getenv(variable);

	for (const char *item = list; item && *item; item++) {
		size_t length = strcspn(item, ",");
		size_t name = strcspn(item, separator);
		bool of_runtime = strstr(item, "cuda") && strstr(item, "cuda") < item + name;

		if (name >= length && strcmp(separator, ","))
			sim_parse__refuse(variable, list, "a setting without a name");
		if (of_runtime == (layer == SIM_RUNTIME) && !is_known(item, name))
			sim_parse__refuse(variable, list, "no function of that name");
		item += length;
		if (!*item)
			break;
	}
}

void sim_faults__check(enum sim_layer layer)
{
	check_list("CUDA_SIM_FAIL", ":", layer);
	check_list("CUDA_SIM_LATENCY", "=", layer);
	check_list("CUDA_SIM_HANG", "=", layer);
	check_list("CUDA_SIM_LOCK", ",", layer);
}

static void wait_ns(uint64_t ns)
{
	uint64_t end = sim_now() + ns;
	struct timespec until = {
		.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000),
	};

	if (ns >= SPIN_NS)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
			;
	while (sim_now() < end)
		;
}

static bool strikes(const struct sim_fault *fault, uint64_t call)
{
	switch (fault->which) {
	case FAIL_ONE:
		return call == fault->number;
	case FAIL_FROM:
		return call >= fault->number;
	case FAIL_EVERY:
		return call % fault->number == 0;
	case FAIL_ALL:
		break;
	}
	return true;
}

void sim_faults__interrupt(uint32_t skip, void (*run)(void *), void *argument)
{
	sim_self()->interrupt = (struct sim_interrupt){ run, argument, skip };
}

/* Records that every launch in progress may never end (`change` 1), or does end (-1). */
static void abandon_launches(struct sim_thread *thread, uint64_t change)
{
	for (uint32_t i = 0; i < thread->depth && i < SIM_MAX_DEPTH; i++) {
		const struct sim_call *call = thread->open[i].call;
		enum sim_caller caller = sim_caller(call, thread->open[i].layer);
		struct sim_launches *launches;

		if (call->kernel == SIM_NO_KERNEL)
			continue;
		launches = call->kernel < thread->nr_kernels ?
			   &thread->kernels[call->kernel][caller] :
			   thread->recorder->grow(thread, call, caller);
		if (launches)
			sim_add(&launches->abandoned, change);
		if (thread->open[i].layer == SIM_DRIVER)
			sim_add(&thread->tallies.devices[call->device].abandoned, change);
	}
}

/* Runs the function that the thread has requested, which may never return. */
static void interrupt(struct sim_thread *thread)
{
	struct sim_interrupt asked = thread->interrupt;

	if (!asked.run)
		return;
	if (asked.skip) {
		thread->interrupt.skip--;
		return;
	}
	thread->interrupt.run = NULL;
	abandon_launches(thread, 1);
	thread->left = true;
	asked.run(asked.argument);
	thread->left = false;
	abandon_launches(thread, (uint64_t)-1);
}

int sim_faults__inject(struct sim_call *call)
{
	struct sim_function *function = call->function;
	uint64_t number;

	interrupt(call->thread);
	if (!function->armed)
		return 0;
	number = __atomic_add_fetch(&function->armed_calls, 1, __ATOMIC_RELAXED);
	sim_lock__take(function);
	if (function->latency)
		wait_ns((uint64_t)(function->latency->fixed_ns +
				   function->latency->byte_ns * (double)call->bytes));
	sim_lock__give_back(function);
	if (function->hang)
		sim_hang__wait(function, number);
	for (struct sim_fault *fault = function->faults; fault; fault = fault->next)
		if (strikes(fault, number))
			return fault->result;
	return 0;
}
