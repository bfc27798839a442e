/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backtrace(3) of the calling thread, under another name: in a program under AddressSanitizer,
 * backtrace has a frame of its own, which is not one of the caller's.
 */
#ifndef TESTS_OWN_BACKTRACE_H
#define TESTS_OWN_BACKTRACE_H

#include <unwind.h>

#include "own_frame.h"

struct own_backtrace {
	void **addresses;
	int max, count, skip;
};

static _Unwind_Reason_Code own_backtrace__add(struct _Unwind_Context *context, void *data)
{
	struct own_backtrace *trace = data;
	void *address = (void *)_Unwind_GetIP(context);

	if (trace->skip-- > 0)
		return _URC_NO_REASON;
	if (!address || trace->count == trace->max) /* above a thread's first frame */
		return _URC_END_OF_STACK;
	trace->addresses[trace->count++] = address;
	return _URC_NO_REASON;
}

/* The caller's return addresses, its own position first; returns their number. */
static OWN_FRAME int own_backtrace(void **addresses, int max)
{
	struct own_backtrace trace = {.addresses = addresses, .max = max, .skip = 1};

	_Unwind_Backtrace(own_backtrace__add, &trace);
	return trace.count;
}

#endif
