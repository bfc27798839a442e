// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel side of gpuprobe trace: every requested call becomes an event in the ring when it has
 * returned. Its function's plan (include/gpuprobe/trace.h) says what is kept of it. Userspace
 * builds the plans from the API table; nothing here knows a function by name.
 *
 *   descend, mapping   which processes there are, and when they map libraries
 *   trace_thread      who calls, and whether that was requested
 *   trace_call        calls from entry to return, nested and left by jumps
 *   stack, trace_stack   where calls come from
 *   trace_event       arguments and the data they point to, into the ring
 *   trace_kernel      names of launched kernels
 *   trace_process     ends of threads and processes
 *   trace_ranges      NVTX ranges
 *
 * The program exists in three versions, as in gpuprobe.bpf.c.
 */
#include "core/identity.bpf.h"
#include "trace/process.bpf.h"
#include "trace/ranges.bpf.h"

extern bool bpf_session_is_return(void) __ksym __weak;

SEC("uprobe")
int trace_session(struct pt_regs *ctx)
{
	if (bpf_session_is_return()) {
		trace_leave(ctx);
		return 0;
	}
	return trace_enter(ctx) ? 1 : 0;
}

/* Always returns 0: before Linux 6.13 a 1 would remove the probe. */
SEC("uprobe")
int trace_entry(struct pt_regs *ctx)
{
	trace_enter(ctx);
	return 0;
}

SEC("uretprobe")
int trace_return(struct pt_regs *ctx)
{
	trace_leave(ctx);
	return 0;
}

SEC("uprobe")
int trace_nvtx(struct pt_regs *ctx)
{
	trace_range(ctx);
	return 0;
}

/* All calls in progress, as events of type TRACE_UNFINISHED, each after its length in a u32. */
SEC("iter/task")
int calls_in_progress(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct traced_thread *thread;
	struct trace_event event;

	if (!task)
		return 0;
	thread = bpf_task_storage_get(&traced_threads, task, 0, 0);
	if (!thread || thread->state != TRACING)
		return 0;
	for (u32 i = 0; i < TRACE_DEPTH; i++) {
		struct traced_call *call = &thread->calls[i];
		u32 used = call->used, size;

		if (i >= thread->depth)
			break;
		if (used > TRACE_PAYLOAD_MAX)
			used = TRACE_PAYLOAD_MAX;
		event = call->event;
		event.type = TRACE_UNFINISHED;
		event.thread = thread->announced ? thread->number : TRACE_NOT_TOLD;
		event.duration_ns = now() - event.start_ns;
		size = sizeof(event) + used;
		bpf_seq_write(ctx->meta->seq, &size, sizeof(size));
		bpf_seq_write(ctx->meta->seq, &event, sizeof(event));
		bpf_seq_write(ctx->meta->seq, call->payload, used);
	}
	return 0;
}

/* The latest call of each thread, as struct trace_latest. */
SEC("iter/task")
int latest_calls(struct bpf_iter__task *ctx)
{
	struct trace_latest latest = {};
	struct task_struct *task = ctx->task;
	struct traced_thread *thread;

	if (!task)
		return 0;
	thread = bpf_task_storage_get(&traced_threads, task, 0, 0);
	if (!thread || thread->state != TRACING)
		return 0;
	latest.tid = pid_of(task);
	/* Still set after the call's return. */
	latest.start_ns = thread->calls[0].event.start_ns;
	if (latest.start_ns)
		bpf_seq_write(ctx->meta->seq, &latest, sizeof(latest));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
