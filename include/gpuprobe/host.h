/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What threads that submit work to GPUs do with their time: a SITE_HOST of call_sites (gpuprobe/stack.h) for each kind
 * and stack. Samples give the time on a CPU, the scheduler's tracepoints the time off it; bpf/host.h keeps both while userspace samples a
 * thread (src/probe/host_watch.h).
 */
#ifndef GPUPROBE_HOST_H
#define GPUPROBE_HOST_H

#include <linux/types.h>

/* A thread that has let go of the GIL for one that submits, by its number in the kernel. */
struct host_holder {
	__u64 start_ns; /* of the thread */
	__s32 tid;	/* in gpuprobe's pid namespace */
	__u32 slot;	/* of its process */
	__u64 times;
};

#define HOST_HOLDERS 64

enum host_kind {
	HOST_CPU = 0, /* on a CPU, outside of CUDA calls */
	/* inside of a CUDA call, on a CPU or off it, by what the outermost one does */
	HOST_IN_LAUNCH,
	HOST_IN_MEMORY, /* allocates or frees */
	HOST_IN_COPY,	/* copies and sets */
	HOST_IN_WAIT,
	HOST_IN_MODULE, /* loads or unloads code */
	HOST_IN_GRAPH,	/* captures, makes or changes graphs */
	HOST_IN_OTHER,
	/* off the CPU, outside of CUDA calls */
	HOST_LOCK,	/* a futex that is not the GIL's */
	HOST_GIL,	/* Python's global interpreter lock: a futex inside the interpreter's own data */
	HOST_QUEUE,	/* a pipe, socket, poll or child */
	HOST_DISK,	/* a file, uninterruptible */
	HOST_FAULT,	/* a page fault */
	HOST_SLEEP,	/* a sleep that was asked for */
	HOST_READY,	/* it could run and did not: preempted, or its control group is throttled */
	HOST_THROTTLED, /* HOST_READY, where userspace knows that it is the control group's limit; never kept by BPF */
	HOST_TEAM,	/* until another thread of the process that submits work woke it: what that one did counts */
	HOST_OFF,	/* whatever else it waits for */
	HOST_HOLDER,	/* another thread of the process runs, which has had the GIL when it was waited for; no time of those that submit */
	HOST_KINDS,
};

#endif
