/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What threads that submit work to GPUs, and the threads they wait for, do with their time.
 * bpf/host.bpf.c records it, src/host/ reads it. Such a thread is "followed": it has a profile,
 * whose number userspace assigns and the thread finds in its task storage. Times are CLOCK_BOOTTIME
 * nanoseconds. Thread ids are those of the initial pid namespace if `kernel` is in their name,
 * otherwise those of gpuprobe's.
 */
#ifndef GPUPROBE_HOST_H
#define GPUPROBE_HOST_H

#include <linux/types.h>

#include "gpuprobe/state.h"

#define HOST_THREADS 192 /* threads followed at a time */
#define HOST_COMM_SIZE 16
#define HOST_SITES 8192	 /* (thread, kind, class, stack) entries between two readings */
#define HOST_WAKERS 2048 /* (thread, waker) entries */
#define HOST_RIVALS 2048 /* (thread, process that has its CPU) entries */
#define HOST_FILES 1024	 /* (thread, descriptor) entries */

/* What a thread does. */
enum host_activity {
	ACTIVITY_CPU = 0, /* it runs */
	ACTIVITY_LOCK,	  /* sleeps on a futex */
	ACTIVITY_GIL,	  /* sleeps on a futex inside Python's runtime: the interpreter's lock */
	ACTIVITY_QUEUE,	  /* in a call that waits for a descriptor: pipe, socket, poll */
	/* waits for a disk or a file, or sleeps uninterruptibly in a read or write */
	ACTIVITY_DISK,
	ACTIVITY_FAULT,	    /* waits for a page */
	ACTIVITY_SLEEP,	    /* sleeps for a time */
	ACTIVITY_READY,	    /* runnable, but other threads have the CPU */
	ACTIVITY_THROTTLED, /* runnable, but its cgroup has used up its CPU quota */
	ACTIVITY_STOPPED,   /* by a signal, a debugger or the freezer */
	/*
	 * slept until another submitting thread of the process woke it: that thread's activity
	 * counts instead
	 */
	ACTIVITY_TEAM,
	ACTIVITY_OTHER, /* sleeps in another system call */
	HOST_ACTIVITIES,
};

/* The CUDA call the thread is in: the innermost watched one. */
enum host_class {
	HOST_OUTSIDE = 0,
	HOST_LAUNCHES,
	HOST_MEMORY,  /* allocates or frees */
	HOST_MODULE,  /* loads, unloads or translates code */
	HOST_CAPTURE, /* captures or builds graphs */
	HOST_COPIES,
	HOST_WAITS, /* waits for the GPU: not the host's fault */
	HOST_CALLS, /* other calls */
	HOST_CLASSES,
};

/*
 * A followed thread's profile. The CPU that the thread is switched to or from writes it, and so
 * does whoever wakes the thread; `version` is odd meanwhile. Times exclude the activity in
 * progress: add the time since `since_ns`.
 */
struct host_profile {
	__u32 version; /* odd while it is being written */
	/* of the profile's number, to distinguish its users; 0: never used */
	__u32 generation;
	__u64 process_start_ns; /* this and `pid` are written by userspace, with the generation */
	__s32 pid;		/* of the process */
	__u32 kernel_tid;
	__u64 began_ns;	  /* when following began; 0: not yet */
	__u64 ended_ns;	  /* end of the thread; 0: alive */
	__u64 since_ns;	  /* start of the current activity */
	__u64 woken_ns;	  /* when it was woken, if it does not run yet; 0: otherwise */
	__u8 kind, class; /* current activity and class */
	/*
	 * it submits work; otherwise it is followed because it wakes a submitting thread; written
	 * by userspace
	 */
	__u8 submits;
	__u8 pad[5];
	/* ACTIVITY_CPU: all in HOST_OUTSIDE, to be divided by the samples */
	__u64 ns[HOST_ACTIVITIES][HOST_CLASSES];
	__u64 times[HOST_ACTIVITIES]; /* number of activities */
	__u64 samples[HOST_CLASSES];  /* samples taken on a CPU */

	/* The sleep in progress */
	__u32 waker_kernel_tid; /* 0: unknown */
	__u32 woken_by_team;	/* woken by another submitting thread of its process */
	__u32 rival_kernel_pid; /* process that got the CPU; 0: unknown */
	__s32 fd;		/* descriptor that it waits for; -1: none */
	__u32 call;		/* system call number; ~0: none */
	__u64 stack;		/* stack id; 0: not taken */
	/*
	 * preceding sleeps of the same kind that a timer ended: the thread still waits for the same
	 * event
	 */
	__u64 unended_ns;
	__u32 unended_kind;

	/* Limits how many sleeps have their stack taken, by the cost of a stack */
	__u64 window_ns;     /* start of the window */
	__u32 window_sleeps; /* sleeps in the window so far */
	__u32 one_in;	     /* one sleep in this many has its stack taken */
	__u32 weight;	     /* number of sleeps that the current one stands for */
	__u32 window_stacks; /* stacks taken in the window */
	__u64 stack_ns;	     /* average cost of one stack */
};

struct host_site_key {
	__u64 stack; /* stack id; 0: not taken */
	__u32 thread, generation;
	__u8 kind, class;
	__u16 call; /* system call number with ACTIVITY_OTHER, otherwise 0 */
	__u32 pad;
};

struct host_site_record {
	__u64 count; /* ACTIVITY_CPU: samples; otherwise sleeps */
	__u64 ns;    /* time of the sleeps, weighted */
};

struct host_pair_key {
	__u32 thread, generation;
	__u32 other; /* kernel id of the waker's thread or the rival's process, or the descriptor */
	__u32 kind;
};

struct host_waker {
	__u64 ns, count; /* sleeps that it ended */
	__u64 start_ns;	 /* start of the thread */
	__u64 process_start_ns;
	__s32 tid, pid; /* 0: not in gpuprobe's pid namespace */
	char comm[HOST_COMM_SIZE];
};

struct host_rival {
	__u64 ns, count;
	__s32 pid;
	__u32 pad;
	char comm[HOST_COMM_SIZE];
};

#define HOST_NAME_SIZE 64

/* A descriptor. For files on a disk, which come and go, the name is that of the latest. */
struct host_file {
	__u64 ns, count;
	char folder[HOST_NAME_SIZE], name[HOST_NAME_SIZE]; /* truncated; empty: unknown */
};

/*
 * Request to follow a thread, keyed by kernel_tid: written by userspace, carried out by the
 * iterator.
 */
struct host_wanted {
	__u64 start_ns;
	__u32 thread, generation;
};

/* A submitting thread that is not followed, as the iterator reports it. */
struct host_submitter {
	__u64 start_ns;		/* of the thread */
	__u64 process_start_ns; /* of the process */
	__u64 first_ns;		/* entry of its first watched call; 0: unknown */
	__u32 kernel_tid;
	__s32 tid, pid;
	__u32 pad;
	char comm[HOST_COMM_SIZE];
};

#endif
