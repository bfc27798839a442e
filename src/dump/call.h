/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which call a stack is in: a CUDA call, and a call of a library that calls CUDA for the program.
 */
#ifndef DUMP_CALL_H
#define DUMP_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "stack/stack.h"

struct stack_call {
	const char *function; /* the outermost CUDA function; NULL if the stack is in none */
	const char *inner;    /* the innermost CUDA function, which may be the same */
	/*
	 * The outermost function of a library (NCCL, cuDNN, cuBLAS, …) around it; NULL if there is
	 * none.
	 */
	const char *by;
	/*
	 * The number of innermost frames up to and including the outermost of these functions, or
	 * up to the last frame of the C library.
	 */
	size_t beyond;
	size_t ends; /* number of frames before those that start a program or thread */
};

/*
 * The innermost call of a known library, with the calls that it is part of: consecutive frames of
 * CUDA's and the other libraries, with frames of the C library allowed between them. The stack owns
 * the texts.
 */
struct stack_call stack_call__of(const struct stack *stack);

/*
 * Whether functions in this object (a file's base name) can be such calls: those of CUDA, of these
 * libraries, and of programs, which may have the runtime linked in.
 */
bool stack_call__may_be_in(const char *object);

#endif
