/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of a trace, decoded: what every form of output is made from. It
 * and all that it points to belong to who hands it out, until he returns.
 *
 * Texts are the watched program's and hostile: output escapes them.
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

enum trace_line_kind {
	LINE_CALL = 0,	  /* a call, with its result */
	LINE_ENTRY,	  /* --entry-return: a call begins */
	LINE_RETURN,	  /* --entry-return: it has returned; its time is that of the return */
	LINE_IN_PROGRESS, /* a call that later ones do not wait for: its result will come by LINE_RESUMED */
	LINE_RESUMED,	  /* its time is that of the return */
	LINE_UNFINISHED,  /* a call that did not return while it was watched */
	LINE_UNFOLLOWED,  /* a call whose return is not followed (bpf/call/switch.bpf.h): its one line */
	LINE_BEFORE,	  /* a call that was in progress when tracing began: neither arguments nor duration are known */
	LINE_LOST,	  /* calls were lost here */
};

/* The process of a line. One for each (pid, start); its texts do not change. */
struct trace_process {
	uint32_t number; /* never two processes' */
	pid_t pid, parent;
	uint32_t uid;
	char comm[COMM_SIZE];
	const char *cgroup; /* its path, or NULL where it is not known */
	uint64_t start_ns;
	uint64_t image; /* gpuprobe/image.h; 0: not known */
};

/* How a field's value is to be read. */
enum trace_form {
	FORM_UNSIGNED = 0, /* .number */
	FORM_SIGNED,	   /* .number as int64_t */
	FORM_ADDRESS,	   /* .number, in hexadecimal, 0 too: pointers and handles; but stream 0 is written 0 */
	FORM_FLAGS,	   /* .number, in hexadecimal */
	FORM_REAL,	   /* .real */
	FORM_WORD,	   /* .text: a constant's name, ours; .number is its value */
	FORM_TEXT,	   /* .text of .length bytes: the program's, to be quoted and escaped; .cut */
	FORM_DIM3,	   /* .dims */
	FORM_BYTES,	   /* .text of .length bytes, raw, in hexadecimal: handles of IPC, UUIDs */
	FORM_WORDS,	   /* .words, .length of them, in hexadecimal */
	FORM_UNREADABLE,   /* .number is the address that could not be read: <unreadable 0x…> */
	FORM_UNKNOWN,	   /* an argument that is passed where it cannot be seen (xmm0): ? */
};

/* The columns that arguments can be shown in by themselves; the rest is in `details` alone. */
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
	const char *name; /* the column's word where it has a role, else the argument's own, or "argument.member" */
	uint8_t form;	  /* enum trace_form */
	uint8_t role;	  /* enum trace_role */
	bool cut;	  /* FORM_TEXT: there was more */
	uint32_t length;
	union {
		uint64_t number;
		double real;
		uint32_t dims[3];
		const uint64_t *words; /* unaligned: read by memcpy */
	};
	const char *text;
};

#define TRACE_FIELDS_MAX 40

struct trace_line {
	enum trace_line_kind kind;
	const struct trace_function *function; /* NULL in LINE_LOST, as all down to `fields` */
	const struct trace_process *process;
	pid_t tid;
	uint8_t depth;
	int16_t device; /* -1: not known */
	/*
	 * CLOCK_BOOTTIME, by which lines are in order: when the call began; in LINE_RETURN and
	 * LINE_RESUMED when it returned; in LINE_UNFINISHED, if it had a line before, when it was
	 * given up; in LINE_BEFORE a time at which the call was in progress; in LINE_LOST that of the first.
	 */
	uint64_t start_ns;
	uint64_t duration_ns;	   /* so far where it has not returned; without `held_ns` */
	uint64_t held_ns;	   /* for which gpuprobe held the process meanwhile */
	uint64_t result;	   /* see enum trace_returns */
	bool failed;		   /* the result is a failure */
	const char *kernel;	   /* its short readable name, or NULL: no launch, or not known */
	const char *kernel_full;   /* mangled */
	const char *kernel_place;  /* "a.out+0x1234", where its host function is, or NULL */
	const struct stack *stack; /* its first frame is the function itself; NULL: not taken, or not known */
	size_t field_count;
	struct trace_field fields[TRACE_FIELDS_MAX];
	uint64_t lost;		/* LINE_LOST: how many calls */
	enum trace_loss reason; /* LINE_LOST */
};

#endif
