// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why a thread leaves its CPU, by its state and its system call, and the CUDA call that it is in. */
#ifndef BPF_HOST_KIND_H
#define BPF_HOST_KIND_H

#include "host_state.h"
#include "python.h"

#define NO_CALL (~0u)
#define NO_FD (-1)

/* The kernel's states, 6.1 to 6.18. */
#define STATE_UNINTERRUPTIBLE 0x0002
#define STATE_STANDS_STILL (0x0004 | 0x0008 | 0x8000) /* stopped, traced, frozen */
#define STATE_DEAD 0x0080

/* Of an inode's mode. */
#define KIND_MASK 0170000
#define KIND_REGULAR 0100000

/* What the waits of a system call are, by its number on x86-64. */
enum call_wait {
	WAIT_IS_OTHER = 0,
	WAIT_IS_FUTEX,
	WAIT_IS_LOCK,
	WAIT_IS_SLEEP,
	WAIT_IS_POLL,	/* a sleep where argument 1 is 0: no descriptors */
	WAIT_IS_SELECT, /* the same by argument 0 */
	WAIT_IS_FD,	/* of argument 0, a descriptor that data comes from or goes to */
	WAIT_IS_QUEUE,	/* of no one descriptor */
	WAIT_IS_IO,	/* of argument 0, which is no pipe */
	WAIT_IS_PATH,	/* of a file that has a name */
};

static __always_inline u8 wait_of_call(u64 number)
{
	switch (number) {
	case 202: /* futex */
	case 455: /* futex_wait */
		return WAIT_IS_FUTEX;
	case 449: /* futex_waitv */
	case 65:  /* semop */
	case 220: /* semtimedop */
		return WAIT_IS_LOCK;
	case 35:  /* nanosleep */
	case 230: /* clock_nanosleep */
		return WAIT_IS_SLEEP;
	case 7:	  /* poll */
	case 271: /* ppoll */
		return WAIT_IS_POLL;
	case 23:  /* select */
	case 270: /* pselect6 */
		return WAIT_IS_SELECT;
	case 0:	  /* read */
	case 1:	  /* write */
	case 19:  /* readv */
	case 20:  /* writev */
	case 42:  /* connect */
	case 43:  /* accept */
	case 44:  /* sendto */
	case 45:  /* recvfrom */
	case 46:  /* sendmsg */
	case 47:  /* recvmsg */
	case 232: /* epoll_wait */
	case 243: /* mq_timedreceive */
	case 275: /* splice */
	case 281: /* epoll_pwait */
	case 288: /* accept4 */
	case 299: /* recvmmsg */
	case 307: /* sendmmsg */
	case 441: /* epoll_pwait2 */
		return WAIT_IS_FD;
	case 61:  /* wait4 */
	case 69:  /* msgsnd */
	case 70:  /* msgrcv */
	case 247: /* waitid */
		return WAIT_IS_QUEUE;
	case 17:  /* pread64 */
	case 18:  /* pwrite64 */
	case 74:  /* fsync */
	case 75:  /* fdatasync */
	case 217: /* getdents64 */
	case 295: /* preadv */
	case 296: /* pwritev */
	case 327: /* preadv2 */
	case 328: /* pwritev2 */
		return WAIT_IS_IO;
	case 2:	  /* open */
	case 3:	  /* close */
	case 4:	  /* stat */
	case 5:	  /* fstat */
	case 6:	  /* lstat */
	case 26:  /* msync */
	case 40:  /* sendfile */
	case 76:  /* truncate */
	case 77:  /* ftruncate */
	case 82:  /* rename */
	case 87:  /* unlink */
	case 162: /* sync */
	case 257: /* openat */
	case 262: /* newfstatat */
	case 263: /* unlinkat */
	case 285: /* fallocate */
	case 306: /* syncfs */
	case 316: /* renameat2 */
	case 326: /* copy_file_range */
	case 332: /* statx */
		return WAIT_IS_PATH;
	}
	return WAIT_IS_OTHER;
}

/* futex, futex_wake and futex_requeue, semop and semtimedop; a thread that ends wakes who waits for that. */
static __always_inline bool ends_futex_waits(u64 number)
{
	return number == 202 || number == 454 || number == 456 || number == 65 || number == 220 || number == 60 || number == 231;
}

/* Whether the futex is in Python's runtime, where of all locks the interpreter's has threads sleep on it. */
static __always_inline bool is_gil(s32 pid, u64 address)
{
	const struct python_target *target = bpf_map_lookup_elem(&python_targets, &pid);

	return target && address - target->runtime < target->runtime_bytes;
}

static __always_inline bool waits_for_io(struct task_struct *task, u32 state)
{
	return state & STATE_UNINTERRUPTIBLE || BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
}

/* The open file of a descriptor; NULL: it cannot be told. */
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

/* A file of a file system, slow as that may be: no pipe, no socket. */
static __always_inline bool is_regular(struct task_struct *task, s32 fd)
{
	struct file *file = file_at(task, fd);

	return file && (BPF_CORE_READ(file, f_inode, i_mode) & KIND_MASK) == KIND_REGULAR;
}

/* Of a thread that sleeps in a system call. Sets the account's .fd and .call. */
static __always_inline u8 kind_of_call(struct task_struct *task, u32 state, const struct pt_regs *regs,
				       struct host_account *account)
{
	u64 number = regs->orig_ax, first = regs->di;

	account->call = number;
	switch (wait_of_call(number)) {
	case WAIT_IS_FUTEX:
		return is_gil(account->pid, first) ? ACTIVITY_GIL : ACTIVITY_LOCK;
	case WAIT_IS_LOCK:
		return ACTIVITY_LOCK;
	case WAIT_IS_SLEEP:
		return ACTIVITY_SLEEP;
	case WAIT_IS_POLL:
		return regs->si ? ACTIVITY_QUEUE : ACTIVITY_SLEEP;
	case WAIT_IS_SELECT:
		return first ? ACTIVITY_QUEUE : ACTIVITY_SLEEP;
	case WAIT_IS_FD:
		account->fd = first;
		return waits_for_io(task, state) || is_regular(task, first) ? ACTIVITY_DISK : ACTIVITY_QUEUE;
	case WAIT_IS_QUEUE:
		return ACTIVITY_QUEUE;
	case WAIT_IS_IO:
		account->fd = first;
		return ACTIVITY_DISK;
	case WAIT_IS_PATH:
		return waits_for_io(task, state) ? ACTIVITY_DISK : ACTIVITY_OTHER;
	}
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? ACTIVITY_DISK : ACTIVITY_OTHER;
}

/* Of a thread that has no CPU although it could run. Before Linux 6.18 its whole queue has none. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return BPF_CORE_READ(task, throttled);
	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(struct cfs_rq, throttle_count))
		return false;
	return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}

/* `state` is the kernel's, as of when the thread left its CPU; `ready`: it would go on. */
static __always_inline u8 kind_of(struct task_struct *task, bool ready, u32 state, const struct pt_regs *regs,
				  struct host_account *account)
{
	account->fd = NO_FD;
	account->call = NO_CALL;
	if (ready)
		return is_throttled(task) ? ACTIVITY_THROTTLED : ACTIVITY_READY;
	if (state & STATE_STANDS_STILL || BPF_CORE_READ_BITFIELD_PROBED(task, frozen))
		return ACTIVITY_STOPPED;
	if ((s64)regs->orig_ax < 0)
		return ACTIVITY_FAULT;
	return kind_of_call(task, state, regs, account);
}

static __always_inline u8 class_of_call(const struct call *call)
{
	switch (call->operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_HOST_FUNCTION:
	case OP_LAUNCH_LIST:
		return HOST_LAUNCHES;
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL:
	case OP_POOL:
		return HOST_MEMORY;
	case OP_CREATE:
	case OP_DESTROY:
		if (call->kind == OBJECT_MODULE || call->kind == OBJECT_LIBRARY)
			return HOST_MODULE;
		return call->kind == OBJECT_GRAPH || call->kind == OBJECT_GRAPH_EXEC ? HOST_CAPTURE : HOST_CALLS;
	case OP_GET_KERNEL:
		return HOST_MODULE;
	case OP_CAPTURE:
	case OP_GRAPH:
		return HOST_CAPTURE;
	case OP_COPY:
	case OP_SET:
		return HOST_COPIES;
	case OP_WAIT:
		return HOST_WAITS;
	}
	return HOST_CALLS;
}

/* The innermost of the thread's calls whose frame is still there, now that its stack pointer is `sp`. */
static __always_inline u8 class_of(struct task_struct *task, u64 sp)
{
	const struct thread *thread = bpf_task_storage_get(&threads, task, 0, 0);
	u32 depth;

	if (!thread || thread->state != THREAD_WATCHED)
		return HOST_OUTSIDE;
	depth = thread->depth;
	for (int i = 0; i < CALL_DEPTH && depth; i++) {
		const struct call *call = &thread->calls[(depth - 1) & (CALL_DEPTH - 1)];

		if (call->sp >= sp)
			return class_of_call(call);
		depth--;
	}
	return HOST_OUTSIDE;
}

#endif
