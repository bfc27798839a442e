// SPDX-License-Identifier: BSD-2-Clause
// Makes lines of calls from before tracing; see before.h.
#include "trace/before.h"

#include <string.h>

#include "api/api.h"

/* Functions that the table does not know only have rows if they are traced. */
static const struct trace_function *find_unknown(const struct trace_functions *functions,
						 const char *symbol)
{
	const struct trace_function *function;

	for (uint32_t row = (uint32_t)api_function_count;
	     (function = trace_functions__at(functions, row)); row++)
		if (!strcmp(trace_function__symbol(function), symbol))
			return function;
	return NULL;
}

/* Returns NULL if the function is not traced, or not CUDA's. */
static const struct trace_function *find_traced(const struct trace_selection *selection,
						const struct trace_functions *functions,
						const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	if (row < 0)
		return find_unknown(functions, symbol);
	return trace_selection__wants(selection, &api_functions[row]) ?
		       trace_functions__at(functions, (uint32_t)row) :
		       NULL;
}

bool trace_before__line(const struct dump_thread *thread, const struct trace_selection *selection,
			const struct trace_functions *functions, uint64_t serial,
			struct stack *stack, struct trace_line *line)
{
	const struct trace_function *function = NULL;
	size_t at = thread->call ? thread->beyond : 0;

	while (at && !function) {
		const char *symbol = thread->stack.frames[--at].function;

		function = symbol ? find_traced(selection, functions, symbol) : NULL;
	}
	if (!function)
		return false;
	*stack = thread->stack;
	stack->serial = serial;
	stack->frames += at;
	stack->count -= (uint32_t)at;
	*line = (struct trace_line){.kind = LINE_BEFORE,
				    .function = function,
				    .tid = thread->tid,
				    .device = -1,
				    .stack = stack};
	return true;
}
