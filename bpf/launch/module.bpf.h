// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Modules and libraries, for the names of kernels. A handle that the program looked up by name has
 * that name by documented means, and an unload ends the life of handles. Handles are reused under
 * other names, so an unload takes effect at its entry and raises the process's generation, which is
 * part of every kernel's key: later launches are named anew.
 */
#ifndef BPF_LAUNCH_MODULE_BPF_H
#define BPF_LAUNCH_MODULE_BPF_H

#include "call/call.bpf.h"
#include "launch/name.bpf.h"

/* call.arg of OP_GET_KERNEL */
#define KERNEL_OUT 0
#define KERNEL_NAME 1
#define KERNEL_MODULE 2

/* `module` 0: any module of the process. */
static __always_inline void unload_enter(struct thread *thread, u64 module)
{
	struct process_record *process = process_at(thread->slot);
	struct record_unload *record;
	u32 generation;

	if (!process)
		return;
	generation = __sync_fetch_and_add(&process->generation, 1) + 1;
	if (!may_notify(process))
		return;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return;
	}
	record->header.type = RECORD_UNLOAD;
	record->header.slot = thread->slot;
	record->module = module;
	record->generation = generation;
	record->pad = 0;
	notified(process, sizeof(*record));
	bpf_ringbuf_submit(record, 0);
}

static __noinline int module_enter(struct pt_regs *ctx,
				   const volatile struct function_desc *function, struct call *call)
{
	call->kind = 0;
	call->arg[KERNEL_OUT] = argument(ctx, function, ROLE_OUT);
	call->arg[KERNEL_NAME] = argument(ctx, function, ROLE_NAME);
	call->arg[KERNEL_MODULE] = argument(ctx, function, ROLE_MODULE);
	return 0;
}

static __always_inline void kernel_given(u32 slot, const struct call *call)
{
	struct process_record *process = process_at(slot);
	struct kernel_key key = {.slot = slot};

	if (!process)
		return;
	key.generation = process->generation;
	if (bpf_probe_read_user(&key.handle, sizeof(key.handle), (void *)call->arg[KERNEL_OUT]))
		lose(LOSS_UNREADABLE);
	else
		send_name(&key, call->arg[KERNEL_MODULE], NAME_GIVEN, call->arg[KERNEL_NAME]);
}

static __noinline int module_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (result)
		count_failure(thread->slot, call, 0, 0, result);
	else
		kernel_given(thread->slot, call);
	return 0;
}

#endif
