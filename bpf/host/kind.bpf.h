// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why a thread leaves its CPU, from its state and system call, and the CUDA call that it is in. */
#ifndef BPF_HOST_KIND_BPF_H
#define BPF_HOST_KIND_BPF_H

#include "host/state.bpf.h"
#include "stack/python.bpf.h"

#define NO_CALL (~0u)
#define NO_FD (-1)

/* The kernel's task states, Linux 6.1 to 6.18. */
#define STATE_UNINTERRUPTIBLE 0x0002
#define STATE_STANDS_STILL (0x0004 | 0x0008 | 0x8000) /* stopped, traced, frozen */
#define STATE_DEAD 0x0080

/* File type bits of an inode's mode. */
#define KIND_MASK 0170000
#define KIND_REGULAR 0100000

/* What a system call waits for, by its number on x86-64. */
enum call_wait {
	WAIT_IS_OTHER = 0,
	WAIT_IS_FUTEX,
	WAIT_IS_LOCK,
	WAIT_IS_SLEEP,
	WAIT_IS_POLL,	/* a sleep if argument 1 is 0: no descriptors */
	WAIT_IS_SELECT, /* a sleep if argument 0 is 0 */
	WAIT_IS_FD,	/* argument 0, a descriptor that transfers data */
	WAIT_IS_QUEUE,	/* not a single descriptor */
	WAIT_IS_IO,	/* argument 0, which is not a pipe */
	WAIT_IS_PATH,	/* a file given by name */
};

#define CALLS_MAX 512

/* A table, since the verifier would follow each case of a switch. */
const volatile __u8 waits_of_calls[CALLS_MAX] = {
	[202] = WAIT_IS_FUTEX,	/* futex */
	[455] = WAIT_IS_FUTEX,	/* futex_wait */
	[449] = WAIT_IS_LOCK,	/* futex_waitv */
	[65] = WAIT_IS_LOCK,	/* semop */
	[220] = WAIT_IS_LOCK,	/* semtimedop */
	[35] = WAIT_IS_SLEEP,	/* nanosleep */
	[230] = WAIT_IS_SLEEP,	/* clock_nanosleep */
	[7] = WAIT_IS_POLL,	/* poll */
	[271] = WAIT_IS_POLL,	/* ppoll */
	[23] = WAIT_IS_SELECT,	/* select */
	[270] = WAIT_IS_SELECT, /* pselect6 */
	[0] = WAIT_IS_FD,	/* read */
	[1] = WAIT_IS_FD,	/* write */
	[19] = WAIT_IS_FD,	/* readv */
	[20] = WAIT_IS_FD,	/* writev */
	[42] = WAIT_IS_FD,	/* connect */
	[43] = WAIT_IS_FD,	/* accept */
	[44] = WAIT_IS_FD,	/* sendto */
	[45] = WAIT_IS_FD,	/* recvfrom */
	[46] = WAIT_IS_FD,	/* sendmsg */
	[47] = WAIT_IS_FD,	/* recvmsg */
	[232] = WAIT_IS_FD,	/* epoll_wait */
	[243] = WAIT_IS_FD,	/* mq_timedreceive */
	[275] = WAIT_IS_FD,	/* splice */
	[281] = WAIT_IS_FD,	/* epoll_pwait */
	[288] = WAIT_IS_FD,	/* accept4 */
	[299] = WAIT_IS_FD,	/* recvmmsg */
	[307] = WAIT_IS_FD,	/* sendmmsg */
	[441] = WAIT_IS_FD,	/* epoll_pwait2 */
	[61] = WAIT_IS_QUEUE,	/* wait4 */
	[69] = WAIT_IS_QUEUE,	/* msgsnd */
	[70] = WAIT_IS_QUEUE,	/* msgrcv */
	[247] = WAIT_IS_QUEUE,	/* waitid */
	[17] = WAIT_IS_IO,	/* pread64 */
	[18] = WAIT_IS_IO,	/* pwrite64 */
	[74] = WAIT_IS_IO,	/* fsync */
	[75] = WAIT_IS_IO,	/* fdatasync */
	[217] = WAIT_IS_IO,	/* getdents64 */
	[295] = WAIT_IS_IO,	/* preadv */
	[296] = WAIT_IS_IO,	/* pwritev */
	[327] = WAIT_IS_IO,	/* preadv2 */
	[328] = WAIT_IS_IO,	/* pwritev2 */
	[2] = WAIT_IS_PATH,	/* open */
	[3] = WAIT_IS_PATH,	/* close */
	[4] = WAIT_IS_PATH,	/* stat */
	[5] = WAIT_IS_PATH,	/* fstat */
	[6] = WAIT_IS_PATH,	/* lstat */
	[26] = WAIT_IS_PATH,	/* msync */
	[40] = WAIT_IS_PATH,	/* sendfile */
	[76] = WAIT_IS_PATH,	/* truncate */
	[77] = WAIT_IS_PATH,	/* ftruncate */
	[82] = WAIT_IS_PATH,	/* rename */
	[87] = WAIT_IS_PATH,	/* unlink */
	[162] = WAIT_IS_PATH,	/* sync */
	[257] = WAIT_IS_PATH,	/* openat */
	[262] = WAIT_IS_PATH,	/* newfstatat */
	[263] = WAIT_IS_PATH,	/* unlinkat */
	[285] = WAIT_IS_PATH,	/* fallocate */
	[306] = WAIT_IS_PATH,	/* syncfs */
	[316] = WAIT_IS_PATH,	/* renameat2 */
	[326] = WAIT_IS_PATH,	/* copy_file_range */
	[332] = WAIT_IS_PATH,	/* statx */
};

/*
 * futex, futex_wake and futex_requeue, semop and semtimedop; exit and exit_group wake threads that
 * wait for the thread's end.
 */
static __always_inline bool ends_futex_waits(u64 number)
{
	return number == 202 || number == 454 || number == 456 || number == 65 || number == 220 ||
	       number == 60 || number == 231;
}

/*
 * Whether the futex is inside Python's runtime: the only lock there that threads sleep on is the
 * interpreter's.
 */
static __always_inline bool is_gil(s32 pid, u64 address)
{
	const struct python_target *target = bpf_map_lookup_elem(&python_targets, &pid);

	return target && address - target->runtime < target->runtime_bytes;
}

static __always_inline bool waits_for_io(struct task_struct *task, u32 state)
{
	return state & STATE_UNINTERRUPTIBLE || BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
}

/* The open file of a descriptor; NULL: unknown. */
static __always_inline struct file *file_at(struct task_struct *task, s32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file *open = NULL;

	if (!table || fd < 0 || (u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	if (bpf_probe_read_kernel(&open, sizeof(open), BPF_CORE_READ(table, fd) + fd))
		return NULL;
	return open;
}

/* A file of a file system, however slow; not a pipe or socket. */
static __always_inline bool is_regular(struct task_struct *task, s32 fd)
{
	struct file *file = file_at(task, fd);

	return file && (BPF_CORE_READ(file, f_inode, i_mode) & KIND_MASK) == KIND_REGULAR;
}

/* The kind of a sleep in a system call. Sets the profile's .fd and .call. */
static __always_inline u8 kind_of_call(struct task_struct *task, u32 state,
				       const struct pt_regs *regs, struct host_profile *profile)
{
	u64 number = regs->orig_ax, first = regs->di;

	profile->call = number;
	switch (number < CALLS_MAX ? waits_of_calls[number & (CALLS_MAX - 1)] : WAIT_IS_OTHER) {
	case WAIT_IS_FUTEX: return is_gil(profile->pid, first) ? ACTIVITY_GIL : ACTIVITY_LOCK;
	case WAIT_IS_LOCK: return ACTIVITY_LOCK;
	case WAIT_IS_SLEEP: return ACTIVITY_SLEEP;
	case WAIT_IS_POLL: return regs->si ? ACTIVITY_QUEUE : ACTIVITY_SLEEP;
	case WAIT_IS_SELECT: return first ? ACTIVITY_QUEUE : ACTIVITY_SLEEP;
	case WAIT_IS_FD:
		profile->fd = first;
		return waits_for_io(task, state) || is_regular(task, first) ? ACTIVITY_DISK :
									      ACTIVITY_QUEUE;
	case WAIT_IS_QUEUE: return ACTIVITY_QUEUE;
	case WAIT_IS_IO: profile->fd = first; return ACTIVITY_DISK;
	case WAIT_IS_PATH: return waits_for_io(task, state) ? ACTIVITY_DISK : ACTIVITY_OTHER;
	}
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? ACTIVITY_DISK : ACTIVITY_OTHER;
}

/*
 * Whether a thread waits for a CPU because of its cgroup's limit. Before Linux 6.18 throttling
 * applies to its whole run queue.
 */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return BPF_CORE_READ(task, throttled);
	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, throttle_count))
		return false;
	return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}

/* `state` is the kernel's, from when the thread left its CPU; `ready`: it is still runnable. */
static __always_inline u8 kind_of(struct task_struct *task, bool ready, u32 state,
				  const struct pt_regs *regs, struct host_profile *profile)
{
	profile->fd = NO_FD;
	profile->call = NO_CALL;
	if (ready)
		return is_throttled(task) ? ACTIVITY_THROTTLED : ACTIVITY_READY;
	if (state & STATE_STANDS_STILL || BPF_CORE_READ_BITFIELD_PROBED(task, frozen))
		return ACTIVITY_STOPPED;
	if ((s64)regs->orig_ax < 0)
		return ACTIVITY_FAULT;
	return kind_of_call(task, state, regs, profile);
}

#define OPERATIONS_MAX 32
_Static_assert(OP_COUNT <= OPERATIONS_MAX, "the tables have room for all operations");

const volatile __u8 classes_of_operations[OPERATIONS_MAX] = {
	[OP_LAUNCH] = HOST_LAUNCHES,
	[OP_GRAPH_LAUNCH] = HOST_LAUNCHES,
	[OP_HOST_FUNCTION] = HOST_LAUNCHES,
	[OP_LAUNCH_LIST] = HOST_LAUNCHES,
	[OP_ALLOC] = HOST_MEMORY,
	[OP_FREE] = HOST_MEMORY,
	[OP_VIRTUAL] = HOST_MEMORY,
	[OP_POOL] = HOST_MEMORY,
	[OP_GET_KERNEL] = HOST_MODULE,
	[OP_CAPTURE] = HOST_CAPTURE,
	[OP_GRAPH] = HOST_CAPTURE,
	[OP_COPY] = HOST_COPIES,
	[OP_SET] = HOST_COPIES,
	[OP_WAIT] = HOST_WAITS,
};

const volatile __u8 classes_of_objects[OPERATIONS_MAX] = {
	[OBJECT_MODULE] = HOST_MODULE,
	[OBJECT_LIBRARY] = HOST_MODULE,
	[OBJECT_GRAPH] = HOST_CAPTURE,
	[OBJECT_GRAPH_EXEC] = HOST_CAPTURE,
};
_Static_assert(OBJECT_KINDS <= OPERATIONS_MAX, "the tables have room for all objects");

/* A call in neither table is HOST_CALLS. */
static __always_inline u8 class_of_call(const struct call *call)
{
	u8 operation = call->operation, class;

	if (operation == OP_CREATE || operation == OP_DESTROY)
		class = classes_of_objects[call->kind & (OPERATIONS_MAX - 1)];
	else
		class = classes_of_operations[operation & (OPERATIONS_MAX - 1)];
	return class ? class : HOST_CALLS;
}

/* The innermost of the thread's calls whose frame still exists at the stack pointer `sp`. */
static __always_inline u8 class_of(struct task_struct *task, u64 sp)
{
	const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	const struct call *call = NULL;
	u32 depth;

	if (!thread || thread->state != THREAD_WATCHED)
		return HOST_OUTSIDE;
	depth = thread->depth;
	for (int i = 0; i < CALL_DEPTH && depth; i++) {
		call = &thread->calls[(depth - 1) & (CALL_DEPTH - 1)];
		if (call->sp >= sp)
			break;
		depth--;
	}
	return depth && call ? class_of_call(call) : HOST_OUTSIDE;
}

#endif
