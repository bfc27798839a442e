/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's part of a stack on one line, innermost first:
 *
 *   loss.item (train.py:60) < step (train.py:44) < main (train.py:91)
 *   wait_for_gpu (main.c:12) < run_thread < 12 more < [callers not found]
 *   libtorch_cpu.so < start_thread
 *
 * Python's frames alone where there are any, else native ones. A native frame without a function is its object, and several
 * of one object behind each other are one. Everything is escaped.
 */
#ifndef OUTPUT_DUMP_SHORT_STACK_H
#define OUTPUT_DUMP_SHORT_STACK_H

#include <stdbool.h>
#include <stdio.h>

#include "stack/stack.h"

bool short_stack__has_python(const struct stack *stack);

/*
 * A line after `indent` blanks, with the frames from number `from` on and before `to`, and a mark at the stack's end; none where
 * there are no such frames.
 */
void short_stack__print(FILE *out, const struct stack *stack, size_t from, size_t to, int indent);

#endif
