// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Host functions that a stream calls: they are not kernels and are counted separately. In a capture
 * they become nodes.
 */
#ifndef BPF_LAUNCH_HOST_FUNCTION_BPF_H
#define BPF_LAUNCH_HOST_FUNCTION_BPF_H

#include "launch/capture.bpf.h"

#define HOST_FUNCTION_CAPTURE 0 /* call.arg */

static __noinline int host_function_enter(struct pt_regs *ctx,
					  const volatile struct function_desc *function,
					  struct thread *thread, struct call *call)
{
	call->kind = function->kind;
	call->arg[HOST_FUNCTION_CAPTURE] =
		capture_of(thread, function, argument(ctx, function, ROLE_STREAM));
	return 0;
}

static __noinline int host_function_leave(struct thread *thread, struct call *call, s32 result)
{
	u16 flags;

	if (!thread || !call)
		return 0;
	flags = call->arg[HOST_FUNCTION_CAPTURE] ? TALLY_CAPTURED : 0;
	if (result)
		count_failure(thread->slot, call, 0, flags, result);
	else
		count_success(thread->slot, call, 0, flags, 0);
	return 0;
}

#endif
