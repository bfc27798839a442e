/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GPU times, from the library in the watched program (inject/) by BPF (bpf/times.bpf.c) to
 * userspace. The library is in the program's hands: nothing of this can be trusted.
 */
#ifndef GPUPROBE_GPU_TIMES_H
#define GPUPROBE_GPU_TIMES_H

#include <linux/types.h>

#define GPU_TIMES_BATCH 64	  /* pieces of work that are handed over at once */
#define GPU_TIMES_NAME_SIZE 1024  /* of a kernel's name; a longer one is cut */
#define GPU_TIMES_REASON_SIZE 256 /* of the text of a failure */

/* The library finds in this variable of the environment what it is to do. */
#define GPU_TIMES_VARIABLE "GPUPROBE_GPU_TIMES"
#define GPU_TIMES_GRAPH_NODES "graph-nodes" /* times of kernels in graphs, not of graphs */
#define GPU_TIMES_SHARE "share="	    /* then how many millionths of the time are recorded */

enum gpu_work_kind {
	GPU_WORK_KERNEL = 1,
	GPU_WORK_COPY,
	GPU_WORK_SET,
	GPU_WORK_GRAPH,	       /* a launch of a graph, as a whole */
	GPU_WORK_GRAPH_KERNEL, /* a kernel in a graph */
	GPU_WORK_CALL,	       /* no work: a call of the driver's that submits some */
};

/* What a copy went from and to, as CUPTI numbers it. */
enum gpu_copy_kind {
	GPU_COPY_UNKNOWN,
	GPU_COPY_H2D,
	GPU_COPY_D2H,
	GPU_COPY_H2A,
	GPU_COPY_A2H,
	GPU_COPY_A2A,
	GPU_COPY_A2D,
	GPU_COPY_D2A,
	GPU_COPY_D2D,
	GPU_COPY_H2H,
	GPU_COPY_P2P,
	GPU_COPY_KINDS,
};

/* A piece of work that a GPU has done, or the call that submitted it. */
struct gpu_work {
	__u64 start_ns, end_ns; /* CUPTI's clock; 0: unknown */
	__u64 name;		/* of a kernel: the number that its name was told with */
	__u64 bytes;		/* of a copy or set */
	__u32 device;		/* as the program numbers it */
	union {
		__u32 thread; /* of a call: its thread, in its own pid namespace */
		__u32 stream; /* of work: as CUPTI numbers the streams of a context */
	};
	__u32 correlation; /* the same for a call and its work; 0: unknown */
	__u8 kind;	   /* enum gpu_work_kind */
	__u8 copy;	   /* enum gpu_copy_kind */
	__u16 burst;	   /* in which it was recorded; 0: everything of its kind is */
};

/*
 * A call that submitted work, as the monitor's probes see it: from the map `gpu_calls`. Work is
 * joined with it by way of a GPU_WORK_CALL of its thread that is inside it.
 */
struct gpu_call {
	__u64 start_ns, end_ns; /* CLOCK_BOOTTIME */
	__u64 process_start_ns; /* as in struct gpu_times_head */
	__u64 stack;		/* its id, see gpuprobe/stack.h; 0: none was taken */
	__u64 path;		/* the NVTX ranges that it is in, see struct nvtx_path_key */
	__s32 pid;		/* in gpuprobe's pid namespace */
	__u32 tid;		/* the same for the thread */
	__u32 thread;		/* the thread in its own pid namespace */
	__u16 row;		/* of the function */
	__u16 unused;
};

/* The functions of the library that have probes; the cookies of these. */
enum gpu_times_function {
	GPU_TIMES_WORK = 1,
	GPU_TIMES_NAME,
	GPU_TIMES_FAILURE,
	GPU_TIMES_CLOCK,
};

/* Every record of the ring begins with this. */
struct gpu_times_head {
	__u32 function; /* enum gpu_times_function */
	__s32 pid;	/* in gpuprobe's pid namespace */
	__u64 start_ns; /* when the process started, CLOCK_BOOTTIME */
};

struct gpu_times_work {
	struct gpu_times_head head;
	__u64 count;   /* of `work`, at most GPU_TIMES_BATCH */
	__u64 dropped; /* records that CUPTI has lost since the last batch */
	struct gpu_work work[GPU_TIMES_BATCH];
};

struct gpu_times_name {
	struct gpu_times_head head;
	__u64 name; /* its number */
	char text[GPU_TIMES_NAME_SIZE];
};

struct gpu_times_failure {
	struct gpu_times_head head;
	__s64 code; /* CUPTI's result; 0: it did not come from CUPTI */
	char text[GPU_TIMES_REASON_SIZE];
};

/* The same moment by both clocks; `boot_ns` is up to some microseconds late. */
struct gpu_times_clock {
	struct gpu_times_head head;
	__u64 cupti_ns; /* as in struct gpu_work */
	__u64 boot_ns;	/* CLOCK_BOOTTIME */
};

/* What BPF could not hand over, by its place in the map `gpu_times_lost`. */
enum gpu_times_loss {
	GPU_TIMES_LOST_WORK,  /* pieces of work */
	GPU_TIMES_LOST_NAMES, /* names and failures */
	GPU_TIMES_LOSSES,
};

#endif
