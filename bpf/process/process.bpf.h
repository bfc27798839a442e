// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The life of processes: exit and exec end a process, whose counters stay in its slot until
 * userspace has read them. The slot's state is what counts. The ring record only makes userspace
 * read it sooner, so a full ring loses nothing here.
 */
#ifndef BPF_PROCESS_PROCESS_BPF_H
#define BPF_PROCESS_PROCESS_BPF_H

#include "profile/missing.bpf.h"
#include "call/call.bpf.h"
#include "launch/capture.bpf.h"
#include "process/descend.bpf.h"
#include "call/open_calls.bpf.h"
#include "call/counter_slot.bpf.h"
#include "call/rate.bpf.h"
#include "steps/steps.bpf.h"

static __always_inline void report_ended(u32 slot)
{
	struct record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record)
		return;
	record->type = RECORD_PROCESS_ENDED;
	record->slot = slot;
	bpf_ringbuf_submit(record, 0);
}

/*
 * Ends the process of `tgid`, if it is a watched one. On exec the task already has the next
 * program's name.
 */
static __always_inline void end_process(struct task_struct *task, u32 tgid, bool exec)
{
	struct process_binding *binding = bpf_map_lookup_elem(&process_of, &tgid);
	struct process_record *process;
	u32 slot;

	if (!binding)
		return;
	slot = binding->slot;
	/*
	 * The last two threads may both see themselves as the last; only one deletes successfully.
	 */
	if (bpf_map_delete_elem(&process_of, &tgid))
		return;
	process = process_at(slot);
	/* Another process may still use its memory. */
	if (!process || __sync_fetch_and_add(&process->users, -1) > 1)
		return;
	if (!exec && process->tgid == tgid)
		BPF_CORE_READ_INTO(&process->comm, task, group_leader, comm);
	process->ended_ns = now();
	process->state = PROCESS_ENDED;
	/*
	 * Atomic for its memory ordering: whichever of this and leave_process comes later sees the
	 * other.
	 */
	if (!__sync_fetch_and_add(&process->threads, 0))
		report_ended(slot);
}

/*
 * The calling thread counts nothing from now on. The last two threads of a process may both see
 * themselves as the last, and one may end the process while the other still has calls to abandon:
 * Linux 6.1 tears down the process's memory in between.
 */
static __always_inline void leave_process(void)
{
	struct thread *thread = returning_thread();
	struct process_record *process = own_process(thread);

	if (!process)
		return;
	if (__sync_fetch_and_add(&process->threads, -1) == 1 &&
	    *(volatile u32 *)&process->state == PROCESS_ENDED)
		report_ended(thread->slot);
}

/*
 * The calling thread's calls in progress will not return. When a process is killed, its threads end
 * in any order; its slot stays its own until the last one, and is read after that.
 */
static __always_inline void abandon_calls(void)
{
	struct thread *thread = returning_thread();

	if (thread && thread->depth && own_process(thread))
		abandon_gone_calls(thread, ~0ull, false);
}

/*
 * Like abandon_calls, and called before it. Not at exec, where the stack of the calls no longer
 * exists.
 */
static __always_inline void end_calls(void)
{
	struct thread *thread = returning_thread();

	if (thread && thread->depth && own_process(thread))
		count_unfinished_calls(thread);
}

/* Whether no other process shares its memory. */
static __always_inline bool is_last_user(u32 tgid)
{
	struct process_binding *binding = bpf_map_lookup_elem(&process_of, &tgid);
	struct process_record *process = binding ? process_at(binding->slot) : NULL;

	return !process || *(volatile u32 *)&process->users <= 1;
}

/* Runs before the slot can pass to another process. */
static __always_inline void end_targets(u32 tgid, int exit_code)
{
	struct process_binding *binding = bpf_map_lookup_elem(&process_of, &tgid);

	if (binding && is_last_user(tgid))
		note_targets_left(binding->slot, exit_code);
}

/* The per-thread default stream ends with its thread. */
static __always_inline void end_thread(struct task_struct *task, u32 tgid)
{
	struct process_binding *binding = bpf_map_lookup_elem(&process_of, &tgid);
	struct stream_key key = {.stream = STREAM_PER_THREAD};
	u64 capture;

	if (!binding)
		return;
	key.scope = BPF_CORE_READ(task, pid);
	key.slot = binding->slot;
	if (config.track_inflight)
		drop_stream(&key);
	capture = stream_leaves_capture(&key);
	if (capture)
		stream_left_capture(&key, capture);
}

/*
 * A child shares the memory of a process that has called: the memory lives as long as either of
 * them. Not for vfork, where the parent waits.
 */
SEC("raw_tp/sched_process_fork")
int memory_lent(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct process_binding *binding;

	if (BPF_CORE_READ(child, pid) != BPF_CORE_READ(child, tgid) ||
	    BPF_CORE_READ(child, mm) != BPF_CORE_READ(bpf_get_current_task_btf(), mm))
		return 0; /* a thread, or one with memory of its own */
	binding = bpf_map_lookup_elem(&process_of, &tgid);
	if (binding && !waits_for_child(bpf_get_current_task_btf()))
		share_process(BPF_CORE_READ(child, tgid), pid_of(child), binding->slot);
	return 0;
}

/*
 * The thread counts as new at its next call. On a preemptible kernel deletion fails (-EBUSY) while
 * a task that was preempted on this CPU is accessing its own storage: then all fields that are zero
 * in a new thread are cleared.
 */
static __always_inline void forget_thread(struct task_struct *task)
{
	struct thread *thread;

	if (!bpf_task_storage_delete(&threads, task))
		return;
	thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (thread)
		__builtin_memset(thread, 0, offsetof(struct thread, calls));
}

/*
 * The thread exits. This runs for each thread; the process ends with the last one, its memory with
 * the last process that shares it.
 */
static __always_inline void exit_thread(struct task_struct *task, u32 tgid)
{
	if (BPF_CORE_READ(task, signal, live.counter) > 0) {
		end_thread(task, tgid);
		return;
	}
	if (!is_last_user(tgid))
		end_thread(task, tgid);
	if (config.profile)
		end_targets(tgid, BPF_CORE_READ(task, exit_code));
	end_process(task, tgid, false);
	forget_process(task);
}

/* The thread executes another program. */
static __always_inline void exec_thread(struct task_struct *task, u32 tgid)
{
	if (config.profile)
		end_targets(tgid, 1);
	end_process(task, tgid, true);
}

/*
 * Also runs at exec, so that the verifier checks the code that exit and exec share, nearly all of
 * it, only once.
 */
SEC("raw_tp/sched_process_exit")
int process_exit(void *ctx __attribute__((unused)))
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	bool exits = is_exiting(task);

	if (exits)
		end_calls();
	abandon_calls();
	if (config.rates)
		close_rate();
	if (config.steps)
		close_steps();
	close_counter_slot();
	if (exits)
		exit_thread(task, tgid);
	else
		exec_thread(task, tgid);
	leave_process();
	if (!exits) {
		forget_thread(task);
		report_exec(task);
	}
	return 0;
}

/* Never loaded: userspace attaches process_exit to exec under the link of this name. */
SEC("?raw_tp/sched_process_exec")
int process_exec(void *ctx __attribute__((unused)))
{
	return 0;
}

/*
 * A process that was inside a call when gpuprobe started gets a slot as if it had called. Userspace
 * iterates over its threads: the first one that still has the memory is enough.
 */
SEC("iter/task")
int adopt_process(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *leader;
	struct mm_struct *mm;
	u32 tgid, slot;
	s32 pid;

	if (!task)
		return 0;
	mm = BPF_CORE_READ(task, mm);
	tgid = BPF_CORE_READ(task, tgid);
	leader = BPF_CORE_READ(task, group_leader);
	pid = pid_of(leader);
	if (!mm || !pid || !pid_is_watched(pid) || bpf_map_lookup_elem(&process_of, &tgid))
		return 0;
	if (bind_profile(leader, mm, pid, &slot))
		return 0;
	/* The process may have ended before it got the slot. */
	if (!BPF_CORE_READ(task, signal, live.counter))
		end_process(task, tgid, false);
	return 0;
}

#endif
