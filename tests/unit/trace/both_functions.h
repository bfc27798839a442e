/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracer's functions without and with arguments, shared by the tests of a group. Include after
 * cmocka.h.
 */
#ifndef TESTS_BOTH_FUNCTIONS_H
#define TESTS_BOTH_FUNCTIONS_H

#include "trace/steps.h"

struct state {
	struct trace_functions *plain, *with_args;
};

static inline int set_up(void **state)
{
	static struct state both;

	both.plain = trace_functions__new(false);
	both.with_args = trace_functions__new(true);
	*state = &both;
	return both.plain && both.with_args ? 0 : -1;
}

static inline int tear_down(void **state)
{
	struct state *both = *state;

	trace_functions__free(both->plain);
	trace_functions__free(both->with_args);
	return 0;
}

#endif
