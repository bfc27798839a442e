// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frees of device memory among the events of tensors: a framework has given a segment back. Whether
 * it was one of a framework, userspace judges by the stack of its allocation.
 */
#ifndef BPF_TENSOR_SEGMENT_BPF_H
#define BPF_TENSOR_SEGMENT_BPF_H

#include "memory/memory.bpf.h"
#include "tensor/state.bpf.h"

/*
 * The call has freed memory on record. Only with config.tensor_events; not global, because
 * otherwise there is no ring, and the verifier would go through it nevertheless.
 */
static __noinline int tell_segment_freed(u32 slot, const struct call *call)
{
	const struct process_record *process = process_at(slot);
	struct tensor_event *event;

	if (call->flag != FREE_TAKEN || call->kind != MEMORY_DEVICE)
		return 0;
	event = bpf_ringbuf_reserve(&tensor_ring, sizeof(*event), 0);
	if (!event)
		return lose(LOSS_TENSOR_RING_FULL);
	__builtin_memset(event, 0, sizeof(*event));
	event->time_ns = now();
	event->since_ns = call->arg[FREED_START];
	event->address = call->arg[FREE_ADDRESS];
	event->bytes = call->arg[FREED_SIZE];
	event->stack = call->freed_stack;
	event->device = call->device < DEVICE_UNKNOWN ? call->device : TENSOR_DEVICE_UNKNOWN;
	event->pid = process ? process->pid : 0;
	event->action = TENSOR_SEGMENT_FREED;
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
