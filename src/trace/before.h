/* SPDX-License-Identifier: BSD-2-Clause */
/* The line of a call that was in progress when tracing began, from a look at its thread. */
#ifndef TRACE_BEFORE_H
#define TRACE_BEFORE_H

#include <stdbool.h>

#include "model/dump.h"
#include "trace/function.h"
#include "trace/selection.h"

/*
 * Fills in *line as LINE_BEFORE, all but process and time: of the calls that the thread is in within one another it is
 * the outermost that is traced. `functions` has those that libraries export and the table does not know. *stack is where
 * its stack is put, whose serial is `serial`, of the line's; the frames are the thread's. False where it is in none that is
 * traced.
 */
bool trace_before__line(const struct dump_thread *thread, const struct trace_selection *selection,
			const struct trace_functions *functions, uint64_t serial, struct stack *stack,
			struct trace_line *line);

#endif
