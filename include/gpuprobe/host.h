/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the threads that submit work to GPUs, and those they wait for, do with
 * their time: kept by bpf/host.bpf.c, read by src/host/. Such a thread is
 * followed: it has a profile, by its number, which userspace gives it, and
 * which the thread itself finds in its storage. Times are CLOCK_BOOTTIME
 * nanoseconds, thread numbers those of the initial pid namespace where
 * `kernel` stands in their name, else gpuprobe's.
 */
#ifndef GPUPROBE_HOST_H
#define GPUPROBE_HOST_H

#include <linux/types.h>

#include "gpuprobe/state.h"

#define HOST_THREADS 192 /* that are followed at a time */
#define HOST_COMM_SIZE 16
#define HOST_SITES 8192	 /* (thread, kind, class, stack) between two readings */
#define HOST_WAKERS 2048 /* (thread, who wakes it) */
#define HOST_RIVALS 2048 /* (thread, who has its CPU) */
#define HOST_FILES 1024	 /* (thread, descriptor) */

/* What a thread does. */
enum host_activity {
	ACTIVITY_CPU = 0,   /* it runs */
	ACTIVITY_LOCK,	    /* sleeps on a futex */
	ACTIVITY_GIL,	    /* on one inside of Python's runtime: the interpreter's lock */
	ACTIVITY_QUEUE,	    /* in a call that waits for a descriptor: pipe, socket, poll */
	ACTIVITY_DISK,	    /* for a disk, or what else a read does not let go of */
	ACTIVITY_FAULT,	    /* for a page */
	ACTIVITY_SLEEP,	    /* for a time to come */
	ACTIVITY_READY,	    /* has no CPU, since others run */
	ACTIVITY_THROTTLED, /* has no CPU, since its cgroup may have no more */
	ACTIVITY_STOPPED,   /* by a signal, a debugger or the freezer */
	ACTIVITY_TEAM,	    /* slept until another thread of the process that submits woke it: what that one did counts */
	ACTIVITY_OTHER,	    /* sleeps in another system call */
	HOST_ACTIVITIES,
};

/* The CUDA call that it is in meanwhile: the innermost that is watched. */
enum host_class {
	HOST_OUTSIDE = 0,
	HOST_LAUNCHES,
	HOST_MEMORY,  /* allocates or frees */
	HOST_MODULE,  /* loads or unloads code, translates it */
	HOST_CAPTURE, /* captures, builds graphs */
	HOST_COPIES,
	HOST_WAITS, /* for the GPU: no doing of the host's */
	HOST_CALLS, /* others */
	HOST_CLASSES,
};

/*
 * A followed thread. Written by the CPU that the thread comes to or leaves, between two of `version`'s being odd, and by
 * whoever wakes it. The times are whole: of a thread that runs, or sleeps, what is since `since_ns` comes on top.
 */
struct host_profile {
	__u32 version;		/* odd while it is written */
	__u32 generation;	/* of the number: told apart from who had it before; 0: nobody ever */
	__u64 process_start_ns; /* these two are userspace's to write, with the generation */
	__s32 pid;		/* of the process */
	__u32 kernel_tid;
	__u64 began_ns;	  /* followed since; 0: not yet */
	__u64 ended_ns;	  /* the thread's end; 0: it lives */
	__u64 since_ns;	  /* of what it does now */
	__u64 woken_ns;	  /* it sleeps no more, but does not run yet; 0: not so */
	__u8 kind, class; /* what it does now */
	__u8 submits;	  /* else it is followed since it wakes one that does; userspace's to write */
	__u8 pad[5];
	__u64 ns[HOST_ACTIVITIES][HOST_CLASSES]; /* ACTIVITY_CPU: all in HOST_OUTSIDE, to be shared out by the samples */
	__u64 times[HOST_ACTIVITIES];		 /* how often */
	__u64 samples[HOST_CLASSES];		 /* of it on a CPU */

	/* The sleep that is in progress */
	__u32 waker_kernel_tid; /* 0: not known */
	__u32 woken_by_team;	/* by a thread of the process that submits */
	__u32 rival_kernel_pid; /* who got the CPU; 0: not known */
	__s32 fd;		/* of a descriptor; -1: none */
	__u32 call;		/* the system call's number; ~0: none */
	__u64 stack;		/* its id; 0: not taken */
	__u64 unended_ns;	/* of sleeps right before it that a timer ended, in the same kind: who is waited for is the same */
	__u32 unended_kind;

	/* How many sleeps may have their stack taken, by what that costs */
	__u64 window_ns;     /* its begin */
	__u32 window_sleeps; /* in it so far */
	__u32 one_in;	     /* has its stack taken */
	__u32 weight;	     /* of the sleep in progress: for so many it stands */
	__u32 window_stacks; /* taken in it */
	__u64 stack_ns;	     /* what one costs, on average */
};

struct host_site_key {
	__u64 stack; /* id; 0: not taken */
	__u32 thread, generation;
	__u8 kind, class;
	__u16 call; /* the system call of ACTIVITY_OTHER, else 0 */
	__u32 pad;
};

struct host_site_record {
	__u64 count; /* of ACTIVITY_CPU samples, else sleeps */
	__u64 ns;    /* of sleeps, as many as they stand for */
};

struct host_pair_key {
	__u32 thread, generation;
	__u32 other; /* kernel number of the waker's thread, of the rival's process, or the descriptor */
	__u32 kind;
};

struct host_waker {
	__u64 ns, count; /* of sleeps that it ended */
	__u64 start_ns;	 /* of the thread */
	__u64 process_start_ns;
	__s32 tid, pid; /* 0: in none of gpuprobe's namespace */
	char comm[HOST_COMM_SIZE];
};

struct host_rival {
	__u64 ns, count;
	__s32 pid;
	__u32 pad;
	char comm[HOST_COMM_SIZE];
};

#define HOST_NAME_SIZE 64

/* A descriptor; of a file on a disk the latest one's name, since they come and go. */
struct host_file {
	__u64 ns, count;
	char folder[HOST_NAME_SIZE], name[HOST_NAME_SIZE]; /* cut; empty: not known */
};

/* Which thread is to be followed next, by kernel_tid: written by userspace, done by the iterator. */
struct host_wanted {
	__u64 start_ns;
	__u32 thread, generation;
};

/* What the iterator tells of threads that submit work and are not followed. */
struct host_submitter {
	__u64 start_ns;		/* of the thread */
	__u64 process_start_ns; /* of the process */
	__u64 first_ns;		/* its first watched call; 0: not known */
	__u32 kernel_tid;
	__s32 tid, pid;
	__u32 pad;
	char comm[HOST_COMM_SIZE];
};

#endif
