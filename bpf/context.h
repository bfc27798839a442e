// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The current context of each thread, as far as it was seen to change: 0 is
 * "not known", as for a thread that was there before gpuprobe.
 */
#ifndef BPF_CONTEXT_H
#define BPF_CONTEXT_H

#include "call.h"
#include "module.h"

#define CONTEXT_ARGUMENT 0

static __always_inline void context_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
					  struct thread *thread, struct call *call)
{
	/* Its modules go with a context, and their handles may come back. */
	if (function->kind == CONTEXT_DESTROY || function->kind == CONTEXT_RESET)
		unload_enter(thread, 0);
	call->kind = function->kind;
	call->arg[CONTEXT_ARGUMENT] = argument(ctx, function, ROLE_CTX);
}

static __always_inline void push_context(struct thread *thread, u64 context)
{
	u32 depth = thread->context_depth;

	if (depth >= CONTEXT_DEPTH) {
		lose(LOSS_CONTEXT_MAP_FULL);
		return;
	}
	thread->context[depth & (CONTEXT_DEPTH - 1)] = context;
	thread->context_depth = depth + 1;
}

static __always_inline void change_context(struct thread *thread, const struct call *call)
{
	u64 context = call->arg[CONTEXT_ARGUMENT];

	switch (call->kind) {
	case CONTEXT_CREATE:
		if (bpf_probe_read_user(&context, sizeof(context), (void *)context)) {
			lose(LOSS_UNREADABLE);
			context = 0;
		}
		push_context(thread, context);
		break;
	case CONTEXT_PUSH:
		push_context(thread, context);
		break;
	case CONTEXT_SET:
		if (!thread->context_depth)
			push_context(thread, context);
		else
			thread->context[(thread->context_depth - 1) & (CONTEXT_DEPTH - 1)] = context;
		break;
	case CONTEXT_POP:
		if (thread->context_depth)
			thread->context_depth--;
		break;
	case CONTEXT_DESTROY:
		/* A context that is current when destroyed is popped as well. */
		if (thread->context_depth &&
		    thread->context[(thread->context_depth - 1) & (CONTEXT_DEPTH - 1)] == context)
			thread->context_depth--;
		break;
	}
}

static __noinline int context_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (is_end_of_driver(result) && (call->kind == CONTEXT_DESTROY || call->kind == CONTEXT_RESET))
		return 0;
	if (result)
		count_failure(thread->slot, call, call->kind, 0, result);
	else
		change_context(thread, call);
	return 0;
}

#endif
