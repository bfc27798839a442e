/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes are doing now: their threads, each with its current CUDA call, what it waits for
 * outside CUDA, and its stack. All texts come from processes and their files and are raw: escape
 * them before printing.
 */
#ifndef MODEL_DUMP_H
#define MODEL_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/model.h"
#include "stack/stack.h"

enum dump_run {
	DUMP_RUNS = 0,	/* on a CPU */
	DUMP_READY,	/* waits for a CPU */
	DUMP_SLEEPS,	/* sleeps until an event */
	DUMP_SLEEPS_ON, /* uninterruptible sleep in the kernel: mostly a disk */
	DUMP_STOPPED,	/* SIGSTOP */
	DUMP_TRACED,	/* a debugger has stopped it */
	DUMP_FROZEN,	/* its cgroup is frozen */
	DUMP_RUN_STATES
};

enum dump_wait {
	DUMP_WAIT_NONE = 0, /* it runs, or the reason for its sleep is unknown */
	DUMP_WAIT_LOCK,	    /* a futex: a mutex, a condition, a semaphore */
	DUMP_WAIT_GIL,	    /* the lock of Python's interpreter; `holder` has it, 0: unknown */
	DUMP_WAIT_FILES,    /* poll, select, epoll: waits for one of several descriptors */
	DUMP_WAIT_PIPE,
	DUMP_WAIT_SOCKET,
	DUMP_WAIT_FILE, /* reads or writes another file */
	DUMP_WAIT_CHILD,
	DUMP_WAIT_SLEEP, /* sleeps for a time */
	DUMP_WAIT_SIGNAL,
	DUMP_WAIT_DRIVER, /* an ioctl of an NVIDIA device */
	DUMP_WAIT_OTHER,  /* another system call: `name` */
	DUMP_WAITS
};

struct dump_waiting {
	enum dump_wait kind;
	const char *name; /* of the system call; NULL: unknown */
	/* the child that is waited for, or the thread that has the GIL; 0: none, any, or unknown */
	pid_t other;
	char other_comm[16]; /* name of `other`; empty: unknown */
	/*
	 * target of the descriptor, as in /proc: "pipe:[4711]"; empty: unknown, or no single
	 * descriptor
	 */
	char object[64];
};

struct dump_thread {
	pid_t tid;
	char comm[16];
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	enum dump_run run;
	/* it was running and could not be caught: its stack may be some milliseconds old */
	bool approximate;
	bool no_stack; /* it ended, or its memory could not be read */
	/* the CUDA function that it is in, the outermost of nested ones; NULL: none */
	const char *call;
	const char *inner; /* the innermost of the nested ones, maybe the same; NULL if `call` is */
	/*
	 * the function of NCCL, cuDNN, cuBLAS or the like that calls `call`, or that the thread is
	 * in directly; NULL: none
	 */
	const char *by;
	/* number of innermost frames, up to and including these two, or those of the C library */
	size_t beyond;
	/*
	 * end of the program's own frames, which start at `beyond`; the frames after it start a
	 * program or thread
	 */
	size_t ends;
	struct dump_waiting waiting; /* also set for a thread in none of these calls */
	struct stack stack;	     /* no frames if no_stack */
};

struct dump_process {
	/* its identity: comm, user, container, pod, gpus; owned by `model` */
	struct process *process;
	char *command;		     /* the command line, joined with spaces; NULL: unknown */
	struct dump_thread *threads; /* the main thread first, the others by ascending tid */
	size_t thread_count;
	size_t unseen;	/* threads beyond the limit, not examined */
	size_t in_cuda; /* threads with `call` or `by` */
	bool maps_cuda; /* it maps a CUDA library, or the runtime is linked into the program */
};

struct dump {
	struct model model; /* .processes are the ones below, .gpus come from NVML */
	struct dump_process *processes;
	size_t count;
	uint64_t boot_ns;    /* when the threads were taken, CLOCK_BOOTTIME */
	uint64_t taken_ns;   /* duration since gpuprobe's start */
	bool nvml_timed_out; /* GPUs are unknown: NVML has not answered in GPU_WAIT_MS */
};

#endif
