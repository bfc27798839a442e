// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tracer's maps and configuration. Where userspace sets a size (src/probe/trace_object.c), the
 * one here is a placeholder.
 */
#ifndef BPF_TRACE_STATE_BPF_H
#define BPF_TRACE_STATE_BPF_H

#include "core/base.bpf.h"
#include "stack/stack.bpf.h"
#include "gpuprobe/trace.h"

/* Set by userspace before load. */
const volatile struct trace_config trace;

/* Indexed by row. Userspace also writes it later, for functions of newly found libraries. */
struct trace_plan plans[MAX_FUNCTIONS];

struct trace_lost lost[TRACE_LOSSES];

/* Number of thread numbers ever used. */
__u32 thread_count;
__u32 process_count;

/*
 * Unloads so far, by process number. If two processes share an entry, a name is read once more than
 * necessary.
 */
#define GENERATIONS 65536
__u32 generations[GENERATIONS];

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TRACE_THREADS);
	__type(key, u32);
	__type(value, u64);
} in_progress SEC(".maps");

/* Thread numbers that were used before and are free. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, TRACE_THREADS);
	__type(value, u32);
} free_threads SEC(".maps");

/* tgid in the initial namespace -> the process's number, while it lives. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u32);
} process_numbers SEC(".maps");

/* A call in progress, and the event that it becomes. */
struct traced_call {
	u64 sp;	       /* stack pointer at entry, see call/call.bpf.h */
	u64 caller;    /* return address; set only if stacks are taken */
	u32 used;      /* bytes used in the payload */
	u32 kernel_at; /* offset in the payload for the driver's handle, with TRACE_PLAN_KERNEL */
	struct trace_event event;
	u8 payload[TRACE_PAYLOAD_MAX];
};

/*
 * Kernels whose names userspace has, indexed by a few bits of the handle: for kernels that a thread
 * launches repeatedly.
 */
#define KERNELS_KNOWN 32

struct known_kernel {
	u64 handle;
	u32 generation;
	u32 pad;
};

enum tracing {
	TRACING_NEW = 0,
	TRACING,
	TRACING_NOT, /* excluded by the filters, or not watched */
};

struct traced_thread {
	u32 state;  /* enum tracing */
	u32 number; /* index of in_progress */
	u32 process;
	u32 announced; /* its TRACE_THREAD record is in the ring */
	u32 depth;
	s32 pid;      /* in gpuprobe's pid namespace */
	u64 start_ns; /* start of the process */
	struct known_kernel known[KERNELS_KNOWN];
	struct unfollowed_calls unfollowed;
	struct taken_call taken;
	struct traced_call calls[TRACE_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct traced_thread);
} traced_threads SEC(".maps");

/* Counts a call that will not be reported. */
static __always_inline void lose_call(enum trace_loss reason)
{
	__sync_fetch_and_add(&lost[reason].count, 1);
	if (!lost[reason].since_ns)
		__sync_val_compare_and_swap(&lost[reason].since_ns, 0, now());
}

/* Userspace sleeps until this many bytes are waiting, or its 100 ms are over. */
static __always_inline u64 wake_flags(u64 size)
{
	u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);

	return waiting < trace.wake_bytes && waiting + size >= trace.wake_bytes ?
		       BPF_RB_FORCE_WAKEUP :
		       BPF_RB_NO_WAKEUP;
}

#endif
