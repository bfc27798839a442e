// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A thread at this moment, see gpuprobe/thread_look.h: its registers, the top of its stack, its
 * Python frames. Userspace runs the iterator over one thread at a time, so there is room for one.
 * The thread need neither run nor stop.
 */
#include "core/task_memory.bpf.h"
#include "stack/python.bpf.h"
#include "gpuprobe/thread_look.h"

#define COPY_PIECE 4096 /* a page: the next one may be unmapped */

char _license[] SEC("license") = "Dual BSD/GPL";

/*
 * Written by userspace: how to find the Python frames of the thread's process; .key_address 0: it
 * has none.
 */
struct python_target python;

struct thread_look look;
static struct python_scratch scratch; /* not read by userspace */

static __always_inline void describe(struct task_struct *task)
{
	look.stack.start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	look.thread_start_ns = BPF_CORE_READ(task, start_boottime);
	look.state = BPF_CORE_READ(task, __state);
	look.on_cpu = BPF_CORE_READ(task, on_cpu) != 0;
	look.frozen = BPF_CORE_READ_BITFIELD_PROBED(task, frozen);
	BPF_CORE_READ_INTO(&look.comm, task, comm);
}

static __always_inline void keep_system_call(const struct pt_regs *regs)
{
	look.system_call = (s64)regs->orig_ax < 0 ? NO_SYSTEM_CALL : regs->orig_ax;
	look.argument[0] = regs->di;
	look.argument[1] = regs->si;
	look.argument[2] = regs->dx;
	look.argument[3] = regs->r10;
	look.argument[4] = regs->r8;
	look.argument[5] = regs->r9;
}

static __always_inline void keep_registers(const struct pt_regs *regs)
{
	struct stack_registers *to = &look.stack.registers;

	to->ip = regs->ip;
	to->sp = regs->sp;
	to->bp = regs->bp;
	to->bx = regs->bx;
	to->r12 = regs->r12;
	to->r13 = regs->r13;
	to->r14 = regs->r14;
	to->r15 = regs->r15;
}

/*
 * The original return addresses, which the trampoline's address has replaced if anybody has
 * attached return probes.
 */
static __always_inline void keep_callers(struct task_struct *task)
{
	struct return_instance *instance = BPF_CORE_READ(task, utask, return_instances);
	struct stack_record *record = &look.stack;

	record->callers = 0;
	for (u32 i = 0; i < STACK_CALLERS && instance; i++) {
		record->caller[i].stack_address = BPF_CORE_READ(instance, stack);
		record->caller[i].address = BPF_CORE_READ(instance, orig_ret_vaddr);
		record->callers = i + 1;
		instance = BPF_CORE_READ(instance, next);
	}
}

/*
 * Copies the stack from the stack pointer up to the end of its mapping. Returns the number of
 * bytes.
 */
static __always_inline u32 copy_stack(const struct memory_of *of, u64 from)
{
	u32 at = 0, size;

	for (u32 i = 0; i <= STACK_COPY_MAX / COPY_PIECE; i++) {
		size = COPY_PIECE - ((from + at) & (COPY_PIECE - 1));
		if (size > STACK_COPY_MAX - at)
			size = STACK_COPY_MAX - at;
		barrier_var(at);
		barrier_var(size);
		if (!size || at >= STACK_COPY_MAX || size > COPY_PIECE)
			break;
		if (read_memory(of, look.copy + at, size, from + at))
			break;
		at += size;
	}
	return at & ~7u;
}

static __always_inline void walk_frames(const struct memory_of *of)
{
	struct task_struct *task = of->task;
	const struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	u64 salt = BPF_CORE_READ(leader, start_boottime) ^ (u64)BPF_CORE_READ(leader, pid) << 32;
	u32 count;

	look.stack.pythons = 0;
	look.python_state = 0;
	if (!python.key_address)
		return;
	look.python_state = python_state(of, &python, &scratch);
	count = walk_python(of, &python, &scratch, look.stack.python, PYTHON_FRAMES_MAX, salt);
	look.stack.pythons = count > PYTHON_FRAMES_MAX + 1 ? 0 : count;
}

SEC("iter.s/task")
int look_at_thread(struct bpf_iter__task *ctx)
{
	struct memory_of of = {.task = ctx->task};
	const struct pt_regs *regs;

	if (!of.task || look.taken)
		return 0;
	regs = (const void *)bpf_task_pt_regs(of.task);
	describe(of.task);
	keep_system_call(regs);
	keep_registers(regs);
	keep_callers(of.task);
	look.stack.flags = STACK_INTERRUPTED;
	look.stack.copied = copy_stack(&of, look.stack.registers.sp);
	walk_frames(&of);
	look.taken = 1;
	return 0;
}
