// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The stack of a traced call, taken at its entry. */
#ifndef BPF_TRACE_STACK_BPF_H
#define BPF_TRACE_STACK_BPF_H

#include "trace/thread.bpf.h"

/*
 * The thread's traced calls that have not returned yet: the kernel has replaced their return
 * addresses by its trampoline.
 */
static __always_inline void keep_callers(struct stack_record *record,
					 const struct traced_thread *thread, u32 depth)
{
	_Static_assert(TRACE_DEPTH <= STACK_CALLERS, "a record has room for all");
	record->callers = depth < TRACE_DEPTH ? depth : TRACE_DEPTH;
	for (u32 i = 0; i < TRACE_DEPTH; i++) {
		record->caller[i].stack_address = thread->calls[i].sp;
		record->caller[i].address = thread->calls[i].caller;
	}
}

/*
 * The id of the stack of the thread's call at `depth`, which begins now. Userspace has the stack's
 * content already, or it is in the ring of stacks. 0 if the stack cannot be taken.
 */
static __noinline u64 take_stack(struct pt_regs *ctx, struct traced_thread *thread, u32 depth)
{
	struct stack_scratch *scratch = stack_scratch();
	struct stack_origin origin = {
		.start_ns = thread->start_ns,
		.function = ctx->ip,
		.owner = thread->process,
		.pid = thread->pid,
		.entering = true,
	};
	u64 id;

	thread->calls[depth & (TRACE_DEPTH - 1)].caller = 0;
	if (!scratch)
		return 0;
	id = reported_stack(&scratch->record, read_stack(scratch, ctx, ctx, &origin));
	thread->calls[depth & (TRACE_DEPTH - 1)].caller = scratch->record.registers.ip;
	if (id)
		return id;
	keep_callers(&scratch->record, thread, depth);
	report_stack(&scratch->record);
	return scratch->record.id;
}

#endif
