/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call stacks with names: plain data, made by stack/ and read by output/.
 * Texts come from watched processes and their files: to be escaped.
 */
#ifndef STACK_STACK_H
#define STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stack_frame_kind {
	FRAME_NATIVE = 0,
	FRAME_PYTHON, /* function, file, line */
	FRAME_MARK,   /* no frame: `function` says what is missing here, "[truncated]", "[callers not found]" */
};

struct stack_frame {
	const char *function; /* readable, whole; NULL: not known */
	const char *object;   /* base name; "[vdso]", "[jit]"; NULL: in none, or Python's */
	const char *file;     /* path of the source file as the compiler or Python had it, or NULL */
	uint64_t offset;      /* in the function, else in the object, else the address itself */
	uint32_t line;	      /* in the file; 0: not known */
	uint8_t kind;	      /* enum stack_frame_kind */
};

/* Two with the same frames are one: they can be compared by their addresses. */
struct stack {
	uint64_t serial; /* order of first sight, from 0 */
	uint32_t count;
	bool truncated; /* the outermost frames are missing, by a limit; the last frame is a mark that says so */
	bool broken;	/* they are missing since the stack could not be followed to its beginning; a last frame says so, too */
	/* innermost first: the CUDA function, its caller, … */
	const struct stack_frame *frames;
};

#endif
