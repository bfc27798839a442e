// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Launches on several devices by one call, each an element of a list: counted individually, as
 * launches of their kernels. They cannot be captured.
 */
#ifndef BPF_LAUNCH_LAUNCH_LIST_BPF_H
#define BPF_LAUNCH_LAUNCH_LIST_BPF_H

#include "launch/launch.bpf.h"

#define LAUNCH_LIST_LENGTH 16

/* CUDA_LAUNCH_PARAMS; cudaLaunchParams has `args` at the offset of the driver's `shared_bytes`. */
struct listed_launch {
	u64 handle;
	u32 grid[DIMENSIONS], block[DIMENSIONS];
	union {
		struct {
			u64 shared_bytes; /* only 32 bits are used */
			u64 stream;
			u64 args;
		} driver;
		struct {
			u64 args;
			u64 shared_bytes;
			u64 stream;
		} runtime;
	};
};

/* Global: the verifier goes through it once, not in each round of the loop that calls it. */
__noinline int launch_listed(u32 slot, u64 address, u8 layer)
{
	struct process_record *process = process_at(slot);
	/* Each launch is on its own device, which only its stream determines. */
	struct launch_key key = {.device = DEVICE_UNKNOWN};
	struct launch_config look = {};
	struct listed_launch launch;
	u64 *count, before;

	if (!process)
		return 0;
	if (bpf_probe_read_user(&launch, sizeof(launch), (void *)address)) {
		lose(LOSS_UNREADABLE);
		return 0;
	}
	key.kernel.handle = launch.handle;
	key.kernel.slot = slot;
	key.kernel.generation = process->generation;
	count = bpf_map_lookup_elem(&launches, &key);
	if (!count)
		count = kernel_first_sight(&key);
	if (!count)
		return 0;
	before = __sync_fetch_and_add(count, 1);
	if (before & (config.launch_sample - 1))
		return 0;
	__builtin_memcpy(look.shape.grid, launch.grid, sizeof(launch.grid));
	__builtin_memcpy(look.shape.block, launch.block, sizeof(launch.block));
	if (layer == LAYER_DRIVER) {
		look.shape.shared_bytes = (u32)launch.driver.shared_bytes;
		look.stream = launch.driver.stream;
	} else {
		look.shape.shared_bytes = launch.runtime.shared_bytes;
		look.stream = launch.runtime.stream;
	}
	add_shape(&key.kernel, &look, NO_GAP);
	return 0;
}

static __noinline int launch_list_enter(struct pt_regs *ctx,
					const volatile struct function_desc *function,
					struct thread *thread, struct call *call)
{
	u64 list = argument(ctx, function, ROLE_PARAMS),
	    length = argument(ctx, function, ROLE_ELEMENTS);

	call->kind = function->kind;
	for (u32 i = 0; i < LAUNCH_LIST_LENGTH; i++) {
		if (i >= length)
			return 0;
		launch_listed(thread->slot, list + i * sizeof(struct listed_launch),
			      function->layer);
	}
	if (length > LAUNCH_LIST_LENGTH)
		lose(LOSS_LAUNCH_LIST_TOO_LONG);
	return 0;
}

static __noinline int launch_list_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (result)
		count_failure(thread->slot, call, 0, 0, result);
	else
		count_success(thread->slot, call, 0, 0, 0);
	return 0;
}

#endif
