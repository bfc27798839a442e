// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * With config.gpu_times: tells userspace of each call that has submitted work to a GPU, so that GPU
 * times have their call (include/gpuprobe/gpu_times.h).
 */
#ifndef BPF_PROFILE_SUBMITTED_BPF_H
#define BPF_PROFILE_SUBMITTED_BPF_H

#include "copy/copy.bpf.h"
#include "core/task.bpf.h"
#include "gpuprobe/gpu_times.h"
#include "launch/graph.bpf.h"
#include "launch/launch.bpf.h"
#include "stack/take_stack.bpf.h"

#define CALLS_RING_BYTES (8 << 20) /* 130,000 calls */

/* struct gpu_call; it exists with config.gpu_times alone. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, CALLS_RING_BYTES);
} gpu_calls SEC(".maps");

static __always_inline bool has_submitted(const struct call *call)
{
	switch (call->operation) {
	case OP_LAUNCH: return !call->arg[LAUNCH_CAPTURE];
	case OP_GRAPH_LAUNCH: return !call->arg[RUN_CAPTURE];
	case OP_COPY:
	case OP_SET: return !(call->arg[COPY_FLAGS] & TALLY_CAPTURED);
	default: return false;
	}
}

/* Userspace reads the calls together with the times, and sooner only if there are many. */
static __always_inline u64 wake_flags(void)
{
	return bpf_ringbuf_query(&gpu_calls, BPF_RB_AVAIL_DATA) > CALLS_RING_BYTES / 4 ?
		       BPF_RB_FORCE_WAKEUP :
		       BPF_RB_NO_WAKEUP;
}

/* A call has returned without an error. Global: the verifier goes through it once. */
__noinline int tell_submitted(struct bpf_user_pt_regs_t *ctx, struct thread *thread,
			      struct call *call)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct process_record *process;
	struct gpu_call *told;
	u64 stack = 0;

	/* Without it there is no map, and older kernels check functions that nothing calls. */
	if (!config.gpu_times || !thread || !call || !has_submitted(call))
		return 0;
	process = process_at(thread->slot);
	if (!process)
		return 0;
	if (config.stack_mode)
		stack = call->stack;
	if (config.stack_mode && !stack)
		stack = take_stack((struct pt_regs *)ctx, thread, call->function, false);
	told = bpf_ringbuf_reserve(&gpu_calls, sizeof(*told), 0);
	if (!told) {
		lose(LOSS_GPU_CALL_RING_FULL);
		return 0;
	}
	told->start_ns = call->start_ns;
	told->end_ns = call->end_ns;
	told->process_start_ns = process->start_ns;
	told->stack = stack;
	told->path = thread->nvtx_path;
	told->pid = process->pid;
	told->tid = pid_of(task);
	told->thread = innermost_pid(task);
	told->row = call->row;
	told->unused = 0;
	bpf_ringbuf_submit(told, wake_flags());
	return 0;
}

#endif
