// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The calling thread, for the tracer. Threads have numbers; userspace gets a thread's identity
 * once, so that events need not repeat it.
 */
#ifndef BPF_TRACE_THREAD_BPF_H
#define BPF_TRACE_THREAD_BPF_H

#include "core/task.bpf.h"
#include "trace/state.bpf.h"
#include "gpuprobe/image.h"

static __always_inline bool has_comm(struct task_struct *leader)
{
	char comm[COMM_SIZE] = {};

	BPF_CORE_READ_INTO(&comm, leader, comm);
	for (int i = 0; i < COMM_SIZE; i++) {
		if (comm[i] != trace.comm[i])
			return false;
		if (!comm[i])
			return true;
	}
	return true;
}

/* Whether the filters select the calling thread's process. */
static __always_inline bool is_chosen(struct task_struct *task, s32 pid)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	if (!pid || !pid_is_watched(pid))
		return false;
	if (trace.by_uid && BPF_CORE_READ(leader, real_cred, uid.val) != trace.uid)
		return false;
	if (trace.by_comm && !has_comm(leader))
		return false;
	return !trace.cgroup ||
	       bpf_get_current_ancestor_cgroup_id(trace.cgroup_level) == trace.cgroup;
}

static __always_inline u32 number_of_process(u32 tgid)
{
	u32 *known = bpf_map_lookup_elem(&process_numbers, &tgid), number;

	if (known)
		return *known;
	number = __sync_fetch_and_add(&process_count, 1);
	if (!bpf_map_update_elem(&process_numbers, &tgid, &number, BPF_NOEXIST))
		return number;
	/* Another thread was faster. */
	known = bpf_map_lookup_elem(&process_numbers, &tgid);
	return known ? *known : number;
}

/*
 * Sends the identity of the thread with this number to userspace. Retried later if the ring is
 * full.
 */
static __noinline int announce(struct traced_thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct trace_thread_record *record;

	if (!thread)
		return -1;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record)
		return -1;
	record->type = TRACE_THREAD;
	record->thread = thread->number;
	record->process = thread->process;
	record->tid = pid_of(task);
	record->pid = pid_of(leader);
	record->parent = pid_of(BPF_CORE_READ(leader, real_parent, group_leader));
	record->uid = BPF_CORE_READ(leader, real_cred, uid.val);
	record->namespace_tid = innermost_pid(task);
	record->start_ns = thread->start_ns;
	record->image =
		image_of(BPF_CORE_READ(task, mm, end_code), BPF_CORE_READ(task, mm, start_stack));
	BPF_CORE_READ_INTO(&record->comm, leader, comm);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	thread->announced = 1;
	return 0;
}

static __always_inline int take_number(u32 *number)
{
	if (!bpf_map_pop_elem(&free_threads, number))
		return 0;
	if (thread_count >= TRACE_THREADS)
		return -1;
	*number = __sync_fetch_and_add(&thread_count, 1);
	return *number < TRACE_THREADS ? 0 : -1;
}

static __noinline int thread_first_seen(struct traced_thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!thread)
		return -1;
	thread->pid = pid_of(BPF_CORE_READ(task, group_leader));
	if (!is_chosen(task, thread->pid)) {
		thread->state = TRACING_NOT;
		return -1;
	}
	if (take_number(&thread->number)) {
		lose_call(TRACE_LOST_THREAD);
		return -1;
	}
	thread->process = number_of_process(tgid);
	thread->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	thread->state = TRACING;
	announce(thread);
	return 0;
}

/* The calling thread if it is traced, otherwise NULL. */
static __always_inline struct traced_thread *tracing_thread(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct traced_thread *thread = bpf_task_storage_get(&traced_threads, task, 0, 0);

	if (!thread)
		thread = bpf_task_storage_get(&traced_threads, task, 0,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		lose_call(TRACE_LOST_THREAD);
		return NULL;
	}
	if (thread->state == TRACING)
		return thread;
	if (thread->state == TRACING_NOT || thread_first_seen(thread))
		return NULL;
	return thread;
}

/* The calling thread if it has calls in progress, otherwise NULL. */
static __always_inline struct traced_thread *thread_in_call(void)
{
	struct traced_thread *thread =
		bpf_task_storage_get(&traced_threads, bpf_get_current_task_btf(), 0, 0);

	return thread && thread->state == TRACING && thread->depth ? thread : NULL;
}

/*
 * Where the thread publishes since when it has been in a call; never NULL, but the verifier does
 * not know.
 */
static __always_inline volatile u64 *progress_of(const struct traced_thread *thread)
{
	u32 number = thread->number;

	return bpf_map_lookup_elem(&in_progress, &number);
}

static __always_inline void set_in_progress(const struct traced_thread *thread, u64 since)
{
	volatile u64 *progress = progress_of(thread);

	if (progress)
		*progress = since;
}

#endif
