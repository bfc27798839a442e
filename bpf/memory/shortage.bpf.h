// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allocations that fail for lack of device memory. A notice goes to userspace at once, because the
 * process may end right after. Frameworks free their caches and try again: if the thread gets as
 * much later on, another notice takes the first one back.
 */
#ifndef BPF_MEMORY_SHORTAGE_BPF_H
#define BPF_MEMORY_SHORTAGE_BPF_H

#include "memory/late_free.bpf.h"

#define CUDA_OUT_OF_MEMORY 2 /* in both layers */

/* `like` has all but the header and the thread. Global: the verifier goes through it once. */
__noinline int send_shortage_like(u32 slot, u32 type, const struct record_shortage *like)
{
	struct process_record *process = process_at(slot);
	struct record_shortage *record;

	if (!like || !process || !may_notify(process))
		return 0;
	if (type != RECORD_SHORTAGE_RELIEVED)
		begin_late_frees(process, like->time_ns, type == RECORD_SHORTAGE_FINAL);
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return 0;
	}
	*record = *like;
	record->header.type = type;
	record->header.slot = slot;
	record->tid = pid_of(bpf_get_current_task_btf());
	bpf_ringbuf_submit(record, 0);
	notified(process, sizeof(*record));
	return 0;
}

static __always_inline void send_shortage(const struct thread *thread, const struct call *call,
					  u64 bytes, u32 type)
{
	const struct record_shortage like = {
		.time_ns = call->end_ns,
		.bytes = bytes,
		.stack = config.stack_mode ? call->stack : 0,
		.row = call->row,
		.device = call->device,
	};

	send_shortage_like(thread->slot, type, &like);
}

/*
 * A failure. The thread's later ones belong to the same shortage for a while. If it has asked for
 * the same again, it has freed a cache before: then this failure is the one that counts.
 */
static __always_inline void shortage_begins(struct thread *thread, const struct call *call,
					    u64 bytes)
{
	if (is_host_kind(call->kind))
		return;
	if (thread->short_ns && call->end_ns - thread->short_ns < SHORTAGE_REPEAT_NS) {
		if (bytes == thread->short_bytes)
			begin_late_frees_again(process_at(thread->slot), call->end_ns);
		return;
	}
	thread->short_ns = call->end_ns;
	thread->short_bytes = bytes;
	send_shortage(thread, call, bytes, RECORD_SHORTAGE);
}

/* A success. */
static __always_inline void shortage_ends(struct thread *thread, const struct call *call, u64 bytes)
{
	if (!thread->short_ns || is_host_kind(call->kind) || bytes < thread->short_bytes)
		return;
	thread->short_ns = 0;
	send_shortage(thread, call, bytes, RECORD_SHORTAGE_RELIEVED);
}

#endif
