// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What threads that submit work do with their time, gpuprobe/host.h. A sample of a thread's processor clock says where it
 * runs, and makes it a thread of concern; from then on what the scheduler says of it is summed up, too. All others pay a look-up at
 * each switch.
 *
 * The time off the CPU is exact. Its stack is taken where that is likely to have been worth it: at a place that was left for
 * LONG_NS before, at one that is new, and once in a while; else it is the stack that was taken there last.
 */
#ifndef BPF_HOST_H
#define BPF_HOST_H

#include "gpuprobe/host.h"
#include "take_stack.h"

#define HOST_PLACES 64	     /* where a thread leaves the CPU, by the system call's or instruction's address; a power of two */
#define LONG_NS 200000	     /* 30 us for a stack are little beside it */
#define LOOK_AGAIN 63	     /* one of so many short ones is looked at all the same, less one */
#define GIL_REACH (1u << 20) /* the interpreter's own data on both sides of the key of thread states */

/* x86-64 */
#define SYS_READ 0
#define SYS_WRITE 1
#define SYS_POLL 7
#define SYS_PREAD 17
#define SYS_PWRITE 18
#define SYS_READV 19
#define SYS_SELECT 23
#define SYS_NANOSLEEP 35
#define SYS_ACCEPT 43
#define SYS_SENDTO 44
#define SYS_RECVFROM 45
#define SYS_SENDMSG 46
#define SYS_RECVMSG 47
#define SYS_WAIT4 61
#define SYS_FSYNC 74
#define SYS_FDATASYNC 75
#define SYS_FUTEX 202
#define SYS_CLOCK_NANOSLEEP 230
#define SYS_EPOLL_WAIT 232
#define SYS_WAITID 247
#define SYS_PSELECT 270
#define SYS_PPOLL 271
#define SYS_EPOLL_PWAIT 281
#define SYS_ACCEPT4 288
#define SYS_RECVMMSG 299
#define SYS_EPOLL_PWAIT2 441

#define TASK_UNINTERRUPTIBLE 2

struct host_place {
	u64 address; /* 0: none yet */
	u64 stack;
	u64 latest_ns; /* how long the thread was away */
	u32 times;
	u32 kind;
};

/* A thread of concern. */
struct host_thread {
	u64 left_ns; /* 0: it is on a CPU */
	u64 stack;
	u32 kind, place;
	u32 woken_by_team, pad;
	struct host_place places[HOST_PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct host_thread);
} host_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, HOST_HOLDERS);
	__type(key, u32);
	__type(value, struct host_holder);
} host_holders SEC(".maps");

/* The time that a sample stands for; userspace sets it. */
volatile __u64 host_period_ns;

/* --- the stack --- */

/* As keep_registers of stack.h, of a thread that may be interrupted anywhere. */
static __always_inline void keep_user_registers(struct stack_record *record, const struct pt_regs *regs)
{
	record->registers.ip = regs->ip;
	record->registers.sp = regs->sp;
	record->registers.bp = regs->bp;
	record->registers.bx = regs->bx;
	record->registers.r12 = regs->r12;
	record->registers.r13 = regs->r13;
	record->registers.r14 = regs->r14;
	record->registers.r15 = regs->r15;
}

/* The id of the calling thread's stack; 0 where it cannot be taken. `scratch` is its own. */
static __always_inline u64 take_host_stack(void *ctx, u32 slot, const struct thread *thread,
					   struct stack_scratch *scratch, const struct pt_regs *regs)
{
	struct process_record *process = process_at(slot);
	struct stack_record *record = &scratch->record;
	long size;
	u64 id;

	if (!process)
		return 0;
	record->start_ns = process->start_ns;
	record->pid = process->pid;
	record->code_version = version_of_code(process->pid);
	record->function = 0;
	record->owner = slot;
	record->pythons = 0;
	record->flags = STACK_INTERRUPTED;
	keep_user_registers(record, regs);
	size = bpf_get_stack(ctx, record->native, sizeof(record->native), BPF_F_USER_STACK);
	record->natives = size < 0 ? 0 : size / sizeof(u64);
	if (record->natives >= STACK_FRAMES_MAX)
		record->flags |= STACK_CUT;
	walk_python_stack(scratch);
	id = told_stack(record, mix(hash_python(scratch, mix(hash_native(scratch), STACK_INTERRUPTED)), record->code_version));
	if (id)
		return id;
	if (thread)
		keep_callers(record, thread);
	else
		record->callers = 0;
	tell_stack(record);
	return record->id;
}

/* --- kinds --- */

static __always_inline u32 kind_in_call(u8 operation)
{
	switch (operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_LAUNCH_LIST:
	case OP_HOST_FUNCTION:
		return HOST_IN_LAUNCH;
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL:
	case OP_POOL:
		return HOST_IN_MEMORY;
	case OP_COPY:
	case OP_SET:
		return HOST_IN_COPY;
	case OP_WAIT:
		return HOST_IN_WAIT;
	case OP_GET_KERNEL:
		return HOST_IN_MODULE;
	case OP_CAPTURE:
	case OP_GRAPH:
		return HOST_IN_GRAPH;
	default:
		return HOST_IN_OTHER;
	}
}

/* What the thread's outermost call does; HOST_KINDS: it is in no call, by its stack pointer. */
static __always_inline u32 call_of(const struct thread *thread, u64 sp)
{
	const struct call *call = &thread->calls[0];
	const volatile struct function_desc *function;

	if (!thread->depth || call->sp < sp)
		return HOST_KINDS;
	if (call->operation != OP_CREATE && call->operation != OP_DESTROY)
		return kind_in_call(call->operation);
	function = function_at(call->row);
	return function && (function->kind == OBJECT_MODULE || function->kind == OBJECT_LIBRARY) ? HOST_IN_MODULE :
												   HOST_IN_OTHER;
}

static __always_inline bool is_gil(u64 address)
{
	s32 pid = pid_of(BPF_CORE_READ(bpf_get_current_task_btf(), group_leader));
	const struct python_target *target = bpf_map_lookup_elem(&python_targets, &pid);

	return target && address - (target->key_address - GIL_REACH) < 2 * GIL_REACH;
}

/* Why a thread that sleeps in this system call does. */
static __always_inline u32 kind_of_sleep(const struct pt_regs *regs, u32 state)
{
	s64 number = regs->orig_ax;

	if (number < 0)
		return HOST_FAULT;
	switch (number) {
	case SYS_FUTEX:
		return is_gil(regs->di) ? HOST_GIL : HOST_LOCK;
	case SYS_NANOSLEEP:
	case SYS_CLOCK_NANOSLEEP:
		return HOST_SLEEP;
	case SYS_FSYNC:
	case SYS_FDATASYNC:
		return HOST_DISK;
	case SYS_READ:
	case SYS_WRITE:
	case SYS_PREAD:
	case SYS_PWRITE:
	case SYS_READV:
		return state & TASK_UNINTERRUPTIBLE ? HOST_DISK : HOST_QUEUE;
	case SYS_POLL:
	case SYS_SELECT:
	case SYS_PSELECT:
	case SYS_PPOLL:
	case SYS_EPOLL_WAIT:
	case SYS_EPOLL_PWAIT:
	case SYS_EPOLL_PWAIT2:
	case SYS_ACCEPT:
	case SYS_ACCEPT4:
	case SYS_SENDTO:
	case SYS_SENDMSG:
	case SYS_RECVFROM:
	case SYS_RECVMSG:
	case SYS_RECVMMSG:
	case SYS_WAIT4:
	case SYS_WAITID:
		return HOST_QUEUE;
	default:
		return state & TASK_UNINTERRUPTIBLE ? HOST_DISK : HOST_OFF;
	}
}

static __always_inline void count_host(u32 slot, u32 kind, u64 stack, u64 times, u64 ns)
{
	struct call_site_key key = {.kind = SITE_HOST, .stack = stack, .what = kind};

	key.slot = slot;
	count_site(&key, times, ns);
}

/* --- on a CPU --- */

/* A thread that makes no watched call: one that others wait for. */
static __noinline int sample_holder(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct process_binding *binding = bpf_map_lookup_elem(&process_of, &tgid);
	struct stack_scratch *scratch = binding ? stack_scratch() : NULL;
	u64 stack;

	if (!binding || !scratch)
		return 0;
	stack = take_host_stack(ctx, binding->slot, NULL, scratch, (const void *)bpf_task_pt_regs(task));
	count_host(binding->slot, HOST_HOLDER, stack, 1, host_period_ns);
	return 0;
}

SEC("perf_event")
int sample_thread(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	const struct pt_regs *regs = (const void *)bpf_task_pt_regs(task);
	struct stack_scratch *scratch;
	u32 kind;

	if (!thread || thread->state != THREAD_WATCHED)
		return sample_holder(ctx);
	scratch = stack_scratch();
	if (!scratch || !bpf_task_storage_get(&host_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE)) {
		lose(LOSS_STACK_NO_ROOM);
		return 0;
	}
	kind = call_of(thread, regs->sp);
	count_host(thread->slot, kind == HOST_KINDS ? HOST_CPU : kind,
		   take_host_stack(ctx, thread->slot, thread, scratch, regs), 1, host_period_ns);
	return 0;
}

/* --- off the CPU --- */

/* The place's number. Two that meet in one are told apart by their address: the later one takes it. */
static __always_inline u32 find_place_of(struct host_thread *host, u64 address)
{
	u32 number = (address * HASH_FACTOR) >> 32 & (HOST_PLACES - 1);
	struct host_place *place = &host->places[number];

	if (place->address != address) {
		place->address = address;
		place->stack = 0;
		place->times = 0;
		place->latest_ns = 0;
	}
	return number;
}

static __always_inline bool is_worth_a_stack(const struct host_place *place)
{
	return !place->stack || place->latest_ns >= LONG_NS || !(place->times & LOOK_AGAIN);
}

static __always_inline struct stack_scratch *own_scratch(struct task_struct *task)
{
	return copies_stacks() ? bpf_task_storage_get(&stack_copy_scratches, task, 0, 0) :
				 bpf_task_storage_get(&stack_scratches, task, 0, 0);
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *task, struct host_thread *host, u32 state)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	const struct pt_regs *regs = (const void *)bpf_task_pt_regs(task);
	struct stack_scratch *scratch = own_scratch(task);
	struct host_place *place;
	u32 number;

	if (!thread || thread->state != THREAD_WATCHED || !scratch)
		return;
	host->woken_by_team = 0;
	host->left_ns = now();
	host->kind = call_of(thread, regs->sp);
	if (host->kind == HOST_KINDS)
		host->kind = state ? kind_of_sleep(regs, state) : HOST_READY;
	number = find_place_of(host, regs->ip ^ regs->sp << 17 ^ host->kind);
	host->place = number;
	place = &host->places[number & (HOST_PLACES - 1)];
	if (is_worth_a_stack(place))
		place->stack = take_host_stack(ctx, thread->slot, thread, scratch, regs);
	host->stack = place->stack;
}

/* One thread hands over to the other, and waits for what that one does: the backward pass of a training, say. */
static __always_inline u32 kind_when_woken(const struct host_thread *host)
{
	bool waited = host->kind == HOST_LOCK || host->kind == HOST_QUEUE || host->kind == HOST_OFF;

	return waited && host->woken_by_team ? HOST_TEAM : host->kind;
}

static __always_inline void come_back(struct task_struct *task, struct host_thread *host)
{
	struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	struct host_place *place = &host->places[host->place & (HOST_PLACES - 1)];
	u64 ns;

	if (!host->left_ns)
		return;
	ns = now() - host->left_ns;
	host->left_ns = 0;
	place->latest_ns = ns;
	place->times++;
	if (thread && thread->state == THREAD_WATCHED)
		count_host(thread->slot, kind_when_woken(host), host->stack, 1, ns);
}

/* The waking thread has had the GIL. */
static __always_inline void note_holder(struct task_struct *task, struct task_struct *woken)
{
	struct thread *thread = bpf_task_storage_get(&threads, woken, 0, 0);
	struct host_holder fresh = {.times = 1}, *holder;
	u32 number = BPF_CORE_READ(task, pid);

	if (!thread || thread->state != THREAD_WATCHED)
		return;
	holder = bpf_map_lookup_elem(&host_holders, &number);
	if (holder) {
		holder->times++;
		return;
	}
	fresh.start_ns = BPF_CORE_READ(task, start_boottime);
	fresh.tid = pid_of(task);
	fresh.slot = thread->slot;
	bpf_map_update_elem(&host_holders, &number, &fresh, BPF_ANY);
}

SEC("tp_btf/sched_waking")
int host_waking(u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf(), *woken = (struct task_struct *)ctx[0];
	struct host_thread *host = bpf_task_storage_get(&host_threads, woken, 0, 0);

	if (!host || BPF_CORE_READ(task, tgid) != BPF_CORE_READ(woken, tgid))
		return 0;
	if (bpf_task_storage_get(&host_threads, task, 0, 0))
		host->woken_by_team = 1;
	else if (host->left_ns && host->kind == HOST_GIL)
		note_holder(task, woken);
	return 0;
}

SEC("tp_btf/sched_switch")
int host_switch(u64 *ctx)
{
	struct task_struct *before = (struct task_struct *)ctx[1], *next = (struct task_struct *)ctx[2];
	struct host_thread *host = bpf_task_storage_get(&host_threads, before, 0, 0);

	if (host)
		leave_cpu(ctx, before, host, ctx[3]);
	host = bpf_task_storage_get(&host_threads, next, 0, 0);
	if (host)
		come_back(next, host);
	return 0;
}

#endif
