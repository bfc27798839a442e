// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tracer's view of ending threads and processes: calls in progress become events, numbers
 * become free.
 */
#ifndef BPF_TRACE_PROCESS_BPF_H
#define BPF_TRACE_PROCESS_BPF_H

#include "process/descend.bpf.h"
#include "trace/call.bpf.h"

/* The calling thread makes no more calls, or none in this program: exit or exec. */
static __always_inline void end_tracing(struct task_struct *task)
{
	struct traced_thread *thread = bpf_task_storage_get(&traced_threads, task, 0, 0);
	u32 number;

	if (!thread)
		return;
	if (thread->state == TRACING) {
		give_up_calls(thread, 0);
		set_in_progress(thread, 0);
		number = thread->number;
		bpf_map_push_elem(&free_threads, &number, 0);
	}
	/*
	 * A preemptible kernel may refuse the deletion, see forget_thread in process/process.bpf.h.
	 */
	if (bpf_task_storage_delete(&traced_threads, task))
		__builtin_memset(thread, 0, offsetof(struct traced_thread, calls));
}

/* The next process or program may have no interpreter at these addresses. */
static __always_inline void forget_python(struct task_struct *task)
{
	s32 pid = pid_of(BPF_CORE_READ(task, group_leader));

	if (config.stack_mode)
		bpf_map_delete_elem(&python_targets, &pid);
}

/*
 * Also runs at exec, so that the verifier checks the code that exit and exec share, nearly all of
 * it, only once.
 */
SEC("raw_tp/sched_process_exit")
int trace_exit(void *ctx __attribute__((unused)))
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	bool exits = is_exiting(task);

	end_tracing(task);
	/* An exit fires for each thread; the process ends with the last one. */
	if (exits && BPF_CORE_READ(task, signal, live.counter) > 0)
		return 0;
	bpf_map_delete_elem(&process_numbers, &tgid);
	forget_python(task);
	if (exits)
		forget_process(task);
	else
		report_exec(task);
	return 0;
}

/* Never loaded: userspace attaches trace_exit to exec under the link of this name. */
SEC("?raw_tp/sched_process_exec")
int trace_exec(void *ctx __attribute__((unused)))
{
	return 0;
}

#endif
