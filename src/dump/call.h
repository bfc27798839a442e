/* SPDX-License-Identifier: BSD-2-Clause */
/* Which call a stack is in: of CUDA, and of a library that calls CUDA for the program. */
#ifndef DUMP_CALL_H
#define DUMP_CALL_H

#include <stddef.h>

#include "stack/stack.h"

struct stack_call {
	const char *function; /* the CUDA function, the outermost of those in one another; NULL: it is in none */
	const char *inner;    /* the innermost of these, which may be the same */
	const char *by;	      /* the outermost function of the libraries (NCCL, cuDNN, cuBLAS, …) that are in it; NULL: none */
	size_t beyond;	      /* how many frames, from the innermost on, end with the outermost of these; or are the C library's */
	size_t ends;	      /* how many frames there are before those in which a program or thread begins */
};

/*
 * The innermost call of a known library, with those that it is part of: frames of CUDA's libraries and of the others on
 * end, between which there may be frames of the C library. Texts are the stack's.
 */
struct stack_call stack_call__of(const struct stack *stack);

#endif
