/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the line of a call that was in progress when tracing began, from a snapshot of its thread.
 */
#ifndef TRACE_BEFORE_H
#define TRACE_BEFORE_H

#include <stdbool.h>

#include "model/dump.h"
#include "trace/function.h"
#include "trace/selection.h"

/*
 * Fills *line as LINE_BEFORE, except process and time. If the thread is in nested calls, it takes
 * the outermost traced one. `functions` includes those that libraries export and the table does not
 * know. *stack receives the line's stack, with serial `serial`; the thread owns the frames. Returns
 * false if the thread is in no traced call.
 */
bool trace_before__line(const struct dump_thread *thread, const struct trace_selection *selection,
			const struct trace_functions *functions, uint64_t serial,
			struct stack *stack, struct trace_line *line);

#endif
