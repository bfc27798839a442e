/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's part of a stack on one line, innermost first:
 *
 *   loss.item (train.py:60) < step (train.py:44) < main (train.py:91)
 *   wait_for_gpu (main.c:12) < run_thread < 12 more < [callers not found]
 *   libtorch_cpu.so < start_thread
 *
 * If the stack has Python frames, only they are shown; otherwise the native ones are. A native
 * frame without a function is shown as its object, and consecutive ones of the same object are
 * shown once. All output is escaped.
 */
#ifndef OUTPUT_DUMP_SHORT_STACK_H
#define OUTPUT_DUMP_SHORT_STACK_H

#include <stdbool.h>
#include <stdio.h>

#include "stack/stack.h"

bool short_stack__has_python(const struct stack *stack);

/*
 * Prints a line after `indent` blanks: the frames from index `from` up to but not including `to`,
 * and a mark if the stack ends with one. `cut` shortens long names. Prints nothing if the range is
 * empty.
 */
void short_stack__print(FILE *out, const struct stack *stack, size_t from, size_t to, int indent,
			bool cut);

#endif
