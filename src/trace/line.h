/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One decoded line of a trace, from which every form of output is made. The caller owns it and
 * everything that it points to, only until the callback returns.
 *
 * Texts come from the watched program and may be hostile: output escapes them.
 */
#ifndef TRACE_LINE_H
#define TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprobe/trace.h"
#include "stack/stack.h"

struct trace_function; /* trace/function.h */
struct trace_gpu_work; /* trace/gpu_work.h */

enum trace_line_kind {
	LINE_CALL = 0,	  /* a call, with its result */
	LINE_ENTRY,	  /* --entry-return: a call begins */
	LINE_RETURN,	  /* --entry-return: it has returned; its time is that of the return */
	LINE_IN_PROGRESS, /* later lines do not wait for this call: see LINE_RESUMED */
	LINE_RESUMED,	  /* its time is that of the return */
	LINE_UNFINISHED,  /* a call that did not return while it was traced */
	LINE_UNFOLLOWED,  /* the only line of a call whose return is not watched */
	LINE_BEFORE,	  /* was in progress when tracing began: no arguments, no duration */
	LINE_LOST,	  /* calls were lost here */
	LINE_GPU,	  /* no call: work that a GPU has done, see trace/gpu_work.h */
	LINE_RANGE,	  /* an NVTX range begins or ends, or a mark: no call */
};

/* The process of a line. There is one for each (pid, start); its texts do not change. */
struct trace_process {
	uint32_t number; /* unique */
	pid_t pid, parent;
	uint32_t uid;
	char comm[COMM_SIZE];
	const char *cgroup; /* its path, or NULL if unknown */
	uint64_t start_ns;
	uint64_t image; /* gpuprobe/image.h; 0 if unknown */
};

/* How to read a field's value. */
enum trace_form {
	FORM_UNSIGNED = 0, /* .number */
	FORM_SIGNED,	   /* .number as int64_t */
	FORM_ADDRESS,	   /* .number in hexadecimal, also 0; but stream 0 is printed as 0 */
	FORM_FLAGS,	   /* .number in hexadecimal */
	FORM_REAL,	   /* .real */
	FORM_WORD,	   /* .text: the name of a constant, from our table; .number is its value */
	FORM_TEXT,	   /* .text of .length bytes, the program's: quote and escape; .cut */
	FORM_DIM3,	   /* .dims */
	FORM_BYTES,	   /* .text of .length raw bytes in hexadecimal: IPC handles, UUIDs */
	FORM_WORDS,	   /* .words, .length of them, in hexadecimal */
	FORM_UNREADABLE,   /* .number is the address that could not be read: <unreadable 0x…> */
	FORM_UNKNOWN,	   /* an argument that cannot be read where it is passed (xmm0): ? */
};

/* The columns that can show single arguments; the other arguments are only in `details`. */
enum trace_role {
	TRACE_NO_ROLE = 0,
	TRACE_PTR,
	TRACE_SIZE,
	TRACE_DST,
	TRACE_SRC,
	TRACE_KIND,
	TRACE_GRID,
	TRACE_BLOCK,
	TRACE_SHMEM,
	TRACE_STREAM,
	TRACE_ARGS,
	TRACE_ROLES,
};

struct trace_field {
	/*
	 * The column's word if it has a role, otherwise the argument's own name, or
	 * "argument.member".
	 */
	const char *name;
	uint8_t form; /* enum trace_form */
	uint8_t role; /* enum trace_role */
	bool cut;     /* FORM_TEXT: the text was longer */
	uint32_t length;
	union {
		uint64_t number;
		double real;
		uint32_t dims[3];
		const uint64_t *words; /* unaligned: read with memcpy */
	};
	const char *text;
};

#define TRACE_FIELDS_MAX 40

struct trace_line {
	enum trace_line_kind kind;
	/* NULL in LINE_LOST, as all down to `fields`, and in LINE_GPU */
	const struct trace_function *function;
	const struct trace_gpu_work *gpu; /* LINE_GPU alone */
	const struct trace_process *process;
	pid_t tid;
	pid_t namespace_tid;	 /* in its own pid namespace; 0: unknown */
	const char *thread_name; /* NULL: unknown, or it is the process's leader */
	uint8_t depth;
	int16_t device; /* -1 if unknown */
	/*
	 * CLOCK_BOOTTIME, the sort key of lines: when the call began; in LINE_RETURN and
	 * LINE_RESUMED when it returned; in LINE_UNFINISHED, if it had a line before, when gpuprobe
	 * stopped watching it; in LINE_BEFORE a time at which the call was in progress; in
	 * LINE_LOST the time of the first lost call; in LINE_GPU when the GPU began the work.
	 */
	uint64_t start_ns;
	/* so far if it has not returned; without `held_ns`; of the range if one ends */
	uint64_t duration_ns;
	uint64_t held_ns;	     /* time during which gpuprobe held the process */
	uint64_t result;	     /* see enum trace_returns */
	bool failed;		     /* the result is a failure */
	const char *kernel;	     /* short readable name; NULL: no launch, or unknown */
	const char *kernel_label;    /* for people; NULL: `kernel` is for them too */
	const char *kernel_full;     /* mangled */
	const char *kernel_location; /* "a.out+0x1234", where its host function is, or NULL */
	const struct stack *stack;   /* from the function itself on; NULL: none or unknown */
	const uint64_t *words; /* arguments as passed: six registers, then the stack's slots */
	size_t word_count;
	size_t field_count;
	struct trace_field fields[TRACE_FIELDS_MAX];
	uint64_t lost;		/* LINE_LOST: number of calls */
	enum trace_loss reason; /* LINE_LOST */
};

#endif
