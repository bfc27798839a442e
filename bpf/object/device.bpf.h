// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What calls reveal about devices: their UUIDs, which identify them outside the process, and the
 * thread's device, which the runtime sets.
 */
#ifndef BPF_OBJECT_DEVICE_BPF_H
#define BPF_OBJECT_DEVICE_BPF_H

#include "object/context.bpf.h"

#define DEVICE_OUT 0
#define DEVICE_NUMBER 1

static __noinline int device_enter(struct pt_regs *ctx,
				   const volatile struct function_desc *function, struct call *call)
{
	call->kind = function->kind;
	call->arg[DEVICE_OUT] = argument(ctx, function, ROLE_OUT);
	call->arg[DEVICE_NUMBER] = argument(ctx, function, ROLE_DEVICE);
	return 0;
}

static __always_inline void keep_uuid(u32 slot, const struct call *call, u8 device)
{
	struct device_record *record = device_record_of(slot, device);

	if (!record || record->has_uuid)
		return;
	if (bpf_probe_read_user(record->uuid, UUID_SIZE, (void *)call->arg[DEVICE_OUT]))
		lose(LOSS_UNREADABLE);
	else
		record->has_uuid = 1;
}

static __noinline int device_leave(struct thread *thread, struct call *call, s32 result)
{
	u8 device;

	if (!thread || !call)
		return 0;
	if (result) {
		count_failure(thread->slot, call, call->kind, 0, result);
		return 0;
	}
	count_success(thread->slot, call, call->kind, 0, 0);
	if (call->arg[DEVICE_NUMBER] >= DEVICE_UNKNOWN)
		return 0;
	device = call->arg[DEVICE_NUMBER];
	if (call->kind == DEVICE_UUID)
		keep_uuid(thread->slot, call, device);
	else
		current_is_on(thread, device);
	return 0;
}

/* Queries are not counted, except for failures that show that CUDA cannot be used. */
static __noinline int ask_leave(struct thread *thread, struct call *call, s32 result)
{
	const volatile struct function_desc *function;

	if (!thread || !call || !result)
		return 0;
	function = function_at(call->row);
	if (function && (function->kind == ASK_COUNT || function->kind == ASK_START))
		count_failure(thread->slot, call, 0, 0, result);
	return 0;
}

#endif
