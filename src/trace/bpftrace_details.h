/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a bpftrace script shows the arguments of a function: what it has to keep
 * at the call's entry, and a printf format with the expressions for it. The
 * fields are those of a line of the trace, by the same steps (trace/steps.h),
 * as far as bpftrace comes by them.
 *
 * At entry the script keeps the six argument registers of a call, and of a
 * function with arguments on the stack those too; at return, where $call and
 * $stack are the two, and $result is the result, the details are printed.
 */
#ifndef TRACE_BPFTRACE_DETAILS_H
#define TRACE_BPFTRACE_DETAILS_H

#include "trace/function.h"

/* Whose kernel a launch shows. */
enum bpftrace_kernel {
	BPFTRACE_NO_KERNEL = 0,
	BPFTRACE_KERNEL_INSIDE, /* a launch of the runtime: that of the driver's launch inside it */
	BPFTRACE_KERNEL_GIVEN,	/* a launch of the driver: its own argument */
};

struct bpftrace_details {
	char *format;		  /* "size=%lu ptr=0x%lx"; empty where there is nothing to show */
	char *arguments;	  /* for the format, each with a comma before it */
	unsigned int stack_words; /* of the stack's argument slots that it needs */
	enum bpftrace_kernel kernel;
	unsigned int kernel_word; /* of BPFTRACE_KERNEL_GIVEN: the number of the register */
};

/* 0 or -ENOMEM. bpftrace_details__clear releases it, in both cases. */
int bpftrace_details__make(struct bpftrace_details *details, const struct trace_function *function);
void bpftrace_details__clear(struct bpftrace_details *details);

#endif
