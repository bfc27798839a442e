/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call stacks with names: plain data, made by stack/ and read by output/. Texts come from watched
 * processes and their files: escape them before printing.
 */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stack_frame_kind {
	FRAME_NATIVE = 0,
	FRAME_PYTHON, /* function, file, line */
	/*
	 * Not a frame: `function` says what is missing here, "[truncated]", "[callers not found]".
	 */
	FRAME_MARK,
};

struct stack_frame {
	const char *function; /* readable and complete; NULL if unknown */
	const char *object;   /* base name; "[vdso]", "[jit]"; NULL if in none, or for Python */
	const char *file;     /* source file as the compiler or Python recorded it, or NULL */
	uint64_t offset;      /* in the function, or in the object, or else the address itself */
	uint32_t line;	      /* in the file; 0 if unknown */
	uint8_t kind;	      /* enum stack_frame_kind */
};

/* Stacks with the same frames share one struct, so compare stacks by address. */
struct stack {
	uint64_t serial; /* order in which stacks were first seen, from 0 */
	uint32_t count;
	bool truncated; /* a limit cut off the outermost frames; the last frame says so */
	bool broken;	/* the stack could not be followed further; the last frame says so */
	/* innermost first: the CUDA function, its caller, … */
	const struct stack_frame *frames;
};

/* Whether the stack, which may be NULL, has Python frames. */
static inline bool stack__has_python(const struct stack *stack)
{
	for (uint32_t i = 0; stack && i < stack->count; i++)
		if (stack->frames[i].kind == FRAME_PYTHON)
			return true;
	return false;
}

#endif
