// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The calling thread: its storage holds its process's slot and its calls in progress. The storage
 * is created at the thread's first watched call and freed with the thread; exec clears it
 * (process/process.bpf.h).
 */
#ifndef BPF_CALL_THREAD_BPF_H
#define BPF_CALL_THREAD_BPF_H

#include "call/state.bpf.h"
#include "core/task.bpf.h"

#define SHARING_DEPTH 4 /* chain of processes that share their memory */

/* Records the identity of the calling process. Userspace may be too late to read it from /proc. */
static __always_inline void identify(struct process_record *process, struct task_struct *leader)
{
	process->parent = pid_of(BPF_CORE_READ(leader, real_parent, group_leader));
	process->uid = BPF_CORE_READ(leader, real_cred, uid.val);
	process->namespace_pid = innermost_pid(leader);
}

/*
 * Lets userspace read at once what only /proc shows. If the ring is full, userspace finds the
 * process by itself.
 */
static __always_inline void report_process(u32 slot)
{
	struct record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record)
		return;
	record->type = RECORD_PROCESS;
	record->slot = slot;
	bpf_ringbuf_submit(record, 0);
}

static __always_inline struct process_record *process_at(u32 slot)
{
	return bpf_map_lookup_elem(&processes, &slot);
}

/* The thread's process; NULL if its slot was freed and maybe reused meanwhile. */
static __always_inline struct process_record *own_process(const struct thread *thread)
{
	struct process_record *process = thread ? process_at(thread->slot) : NULL;

	return process && process->state != PROCESS_FREE && process->seen_ns == thread->seen_ns ?
		       process :
		       NULL;
}

/* Whether gpuprobe has seen all calls of the process. */
static __always_inline bool is_seen_from_start(u32 slot)
{
	struct process_record *process = process_at(slot);

	return process && !process->late && attached_ns && process->start_ns >= attached_ns;
}

/*
 * The leader of the process that owns the calling process's memory: addresses mean the same in all
 * processes that share it (CLONE_VM without CLONE_THREAD, vfork). The owner is the process that
 * lent the memory: up to four ancestors are checked, then the kernel's owner of the mm, if known.
 * Returns `leader` itself if it shares no memory, or shares it with an unwatched process.
 */
static __always_inline struct task_struct *profile_holder(struct task_struct *leader,
							  struct mm_struct *mm)
{
	struct task_struct *holder = leader, *other;
	s32 pid;

	for (int i = 0; i < SHARING_DEPTH; i++) {
		other = BPF_CORE_READ(holder, real_parent);
		if (!other || BPF_CORE_READ(other, mm) != mm)
			break;
		holder = BPF_CORE_READ(other, group_leader);
	}
	if (holder == leader && bpf_core_field_exists(mm->owner)) {
		other = BPF_CORE_READ(mm, owner);
		if (other && BPF_CORE_READ(other, mm) == mm)
			holder = BPF_CORE_READ(other, group_leader);
	}
	pid = pid_of(holder);
	return pid && pid_is_watched(pid) ? holder : leader;
}

/* Takes a free slot for the process of this leader. Returns 0, or -1 if there is none. */
static __always_inline int bind_process(struct task_struct *leader, u32 *slot)
{
	struct process_binding binding = {}, *other;
	u32 tgid = BPF_CORE_READ(leader, tgid);
	struct process_record *process;

	if (bpf_map_pop_elem(&free_slots, &binding.slot))
		return -1;
	process = process_at(binding.slot);
	if (!process)
		return -1;
	process->pid = pid_of(leader);
	process->tgid = tgid;
	process->threads = 0;
	process->users = 1;
	process->sharer = 0;
	process->generation = 0;
	process->epoch = 0;
	process->waits = 0;
	process->host_levels = 0;
	process->device_levels = 0;
	process->host_ranges = 0;
	process->freed_next = 0;
	process->aside_next = 0;
	process->driver = 0;
	process->calls_drivers = 0;
	process->shim = 0;
	process->behind_shim = 0;
	process->notice_bytes = 0;
	process->kernel_keys = 0;
	process->failure_keys = 0;
	process->tally_keys = 0;
	process->live_keys = 0;
	process->live_granted = 0;
	process->object_keys = 0;
	process->object_second = 0;
	process->object_stacks = 0;
	process->lost_notices = 0;
	__builtin_memset(process->other_launches, 0, sizeof(process->other_launches));
	process->other_failures = 0;
	process->other_calls = 0;
	process->other_call_failures = 0;
	process->other_call_ns = 0;
	process->deaths = 0;
	process->called = 0;
	process->step_records = 0;
	process->captures = 0;
	process->orders = 0;
	process->order_count = 0;
	process->late = 0;
	process->node_doubts = 0;
	process->unified = 0;
	process->sticky_code = 0;
	process->sticky_ns = 0;
	process->sticky_failures = 0;
	process->after_sticky = 0;
	process->start_ns = BPF_CORE_READ(leader, start_boottime);
	process->seen_ns = now();
	process->ended_ns = 0;
	BPF_CORE_READ_INTO(&process->comm, leader, comm);
	identify(process, leader);
	if (bpf_map_update_elem(&process_of, &tgid, &binding, BPF_NOEXIST)) {
		bpf_map_push_elem(&free_slots, &binding.slot, 0);
		/* Another thread was faster. */
		other = bpf_map_lookup_elem(&process_of, &tgid);
		if (!other)
			return -1;
		*slot = other->slot;
		return 0;
	}
	process->state = PROCESS_LIVE;
	report_process(binding.slot);
	*slot = binding.slot;
	return 0;
}

/*
 * The thread's current context and device, from the changes that were seen; otherwise 0 and
 * DEVICE_UNKNOWN.
 */
static __always_inline u64 current_context(const struct thread *thread)
{
	u32 depth = thread->context_depth;

	return depth ? thread->context[(depth - 1) & (CONTEXT_DEPTH - 1)] : 0;
}

static __always_inline u8 device_of_context(u32 slot, u64 context)
{
	struct context_key key = {.context = context, .slot = slot};
	struct context_record *record = bpf_map_lookup_elem(&contexts, &key);

	return record ? record->device : DEVICE_UNKNOWN;
}

/* A context may become current before its device is known, so it is looked up until it is. */
static __always_inline u8 current_device(struct thread *thread)
{
	u32 top = (thread->context_depth - 1) & (CONTEXT_DEPTH - 1);

	if (!thread->context_depth)
		return DEVICE_UNKNOWN;
	if (thread->device[top] == DEVICE_UNKNOWN && thread->context[top])
		thread->device[top] = device_of_context(thread->slot, thread->context[top]);
	return thread->device[top];
}

/*
 * Adds the calling process to those that share the memory of the slot's process. Returns 0, or -1
 * if that process has ended.
 */
static __always_inline int share_process(u32 tgid, s32 pid, u32 slot)
{
	struct process_binding binding = {.slot = slot};
	struct process_record *process = process_at(slot);
	u32 users;

	if (!process)
		return -1;
	users = *(volatile u32 *)&process->users;
	if (!users || process->state != PROCESS_LIVE ||
	    !__sync_bool_compare_and_swap(&process->users, users, users + 1))
		return -1;
	process->sharer = pid;
	/* Another thread may have been faster. */
	if (bpf_map_update_elem(&process_of, &tgid, &binding, BPF_NOEXIST))
		__sync_fetch_and_add(&process->users, -1);
	return 0;
}

/*
 * Userspace reads the process for the last time only after this thread has left it, see
 * leave_process.
 */
static __always_inline void join_process(struct thread *thread)
{
	struct process_record *process = process_at(thread->slot);

	if (process) {
		thread->seen_ns = process->seen_ns;
		process->called = 1;
		__sync_fetch_and_add(&process->threads, 1);
	}
	thread->state = THREAD_WATCHED;
}

/* The slot of the holder's process, which may not have called yet. */
static __always_inline int bind_holder(struct task_struct *holder, u32 *slot)
{
	u32 tgid = BPF_CORE_READ(holder, tgid);
	const struct process_binding *binding = bpf_map_lookup_elem(&process_of, &tgid);

	if (!binding)
		return bind_process(holder, slot);
	*slot = binding->slot;
	return 0;
}

/*
 * Finds or makes the slot of a watched process without one: its own slot, or that of the process
 * whose memory `mm` it shares.
 */
static __always_inline int bind_profile(struct task_struct *leader, struct mm_struct *mm, s32 pid,
					u32 *slot)
{
	struct task_struct *holder = profile_holder(leader, mm);

	if (!bind_holder(holder, slot) &&
	    (holder == leader || !share_process(BPF_CORE_READ(leader, tgid), pid, *slot)))
		return 0;
	lose(LOSS_PROCESS_TABLE_FULL);
	return -1;
}

/* Fills a new thread's storage. Called once per thread, so it is not inlined. */
static __noinline int thread_first_sight(struct thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf(), *leader;
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct process_binding *binding;
	s32 pid;

	if (!thread)
		return -1;
	binding = bpf_map_lookup_elem(&process_of, &tgid);
	if (binding) {
		thread->slot = binding->slot;
		join_process(thread);
		return 0;
	}
	leader = BPF_CORE_READ(task, group_leader);
	pid = pid_of(leader);
	if (!pid || !pid_is_watched(pid)) {
		thread->state = THREAD_IGNORED;
		return -1;
	}
	/* Without a slot the state stays THREAD_NEW, since a slot may become free. */
	if (bind_profile(leader, BPF_CORE_READ(task, mm), pid, &thread->slot))
		return -1;
	join_process(thread);
	return 0;
}

/* The calling thread if it is watched, otherwise NULL. */
static __always_inline struct thread *current_thread(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);

	if (!thread)
		thread = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		lose(LOSS_THREAD_STORAGE);
		return NULL;
	}
	if (thread->state == THREAD_WATCHED)
		return thread;
	if (thread->state == THREAD_IGNORED || thread_first_sight(thread))
		return NULL;
	return thread;
}

/* The calling thread if the entry of one of its calls was seen, otherwise NULL. */
static __always_inline struct thread *returning_thread(void)
{
	struct thread *thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (!thread || thread->state != THREAD_WATCHED)
		return NULL;
	return thread;
}

#endif
