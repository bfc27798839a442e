/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a bpftrace script prints the arguments of a function: what it must keep at the call's entry,
 * and a printf format with its expressions. The fields are those of a line of the trace, made by
 * the same steps (trace/steps.h), as far as bpftrace can read them.
 *
 * At entry the script keeps the six argument registers of a call, and the stack slots of a function
 * with arguments on the stack. At return it prints the details; $call and $stack are those two, and
 * $result is the result.
 */
#ifndef TRACE_BPFTRACE_DETAILS_H
#define TRACE_BPFTRACE_DETAILS_H

#include "trace/function.h"

/* The source of a launch's kernel name. */
enum bpftrace_kernel {
	BPFTRACE_NO_KERNEL = 0,
	BPFTRACE_KERNEL_INSIDE, /* a launch of the runtime: the driver's launch inside it */
	BPFTRACE_KERNEL_GIVEN,	/* a launch of the driver: its own argument */
};

struct bpftrace_details {
	char *format;		  /* "size=%lu ptr=0x%lx"; empty if there is nothing to print */
	char *arguments;	  /* for the format, each preceded by a comma */
	unsigned int stack_words; /* number of argument slots on the stack that it needs */
	enum bpftrace_kernel kernel;
	unsigned int kernel_word; /* for BPFTRACE_KERNEL_GIVEN: the number of the register */
};

/* Returns 0 or -ENOMEM. Release it with bpftrace_details__clear in both cases. */
int bpftrace_details__make(struct bpftrace_details *details, const struct trace_function *function);
void bpftrace_details__clear(struct bpftrace_details *details);

#endif
