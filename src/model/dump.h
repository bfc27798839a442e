/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes are in, now: their threads, each with the CUDA call that it is in, what it waits for outside of CUDA, and its
 * stack. All texts come from processes and their files, and are raw: to be escaped before they are printed.
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
	DUMP_SLEEPS,	/* until something comes */
	DUMP_SLEEPS_ON, /* in the kernel, no signal wakes it: mostly a disk */
	DUMP_STOPPED,	/* SIGSTOP */
	DUMP_TRACED,	/* a debugger has stopped it */
	DUMP_FROZEN,	/* its cgroup is */
	DUMP_RUN_STATES
};

enum dump_wait {
	DUMP_WAIT_NONE = 0, /* it runs, or in what it sleeps is not known */
	DUMP_WAIT_LOCK,	    /* a futex: a mutex, a condition, a semaphore */
	DUMP_WAIT_GIL,	    /* the lock of Python's interpreter; `holder` has it, 0: not known who */
	DUMP_WAIT_FILES,    /* poll, select, epoll: until one of several descriptors is ready */
	DUMP_WAIT_PIPE,
	DUMP_WAIT_SOCKET,
	DUMP_WAIT_FILE, /* reads or writes another file */
	DUMP_WAIT_CHILD,
	DUMP_WAIT_SLEEP, /* for a time */
	DUMP_WAIT_SIGNAL,
	DUMP_WAIT_DRIVER, /* an ioctl of an NVIDIA device */
	DUMP_WAIT_OTHER,  /* another system call: `name` */
	DUMP_WAITS
};

struct dump_waiting {
	enum dump_wait kind;
	const char *name;    /* of the system call; NULL: not known */
	pid_t other;	     /* the child that is waited for, the thread that has the GIL; 0: none, any, or not known */
	char other_comm[16]; /* of it; empty: not known */
	char object[64];     /* what the descriptor leads to, as /proc has it: "pipe:[4711]"; empty: not known, or not one */
};

struct dump_thread {
	pid_t tid;
	char comm[16];
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	enum dump_run run;
	bool approximate;	     /* it ran, and no moment of it was seen: its stack may be one of some milliseconds ago */
	bool no_stack;		     /* it ended, or its memory could not be read */
	const char *call;	     /* the CUDA function that it is in, the outermost of those in one another; NULL: in none */
	const char *inner;	     /* the innermost of those, which may be the same; NULL as `call` */
	const char *by;		     /* the function of NCCL, cuDNN, cuBLAS or the like that calls that, or is itself what it is in; NULL: none */
	size_t beyond;		     /* frames of the stack, from the innermost on, up to and with these two, or of the C library */
	size_t ends;		     /* frames before those in which a program or a thread begins: from `beyond` to here is the program's part */
	struct dump_waiting waiting; /* of one that is in no call of these as well */
	struct stack stack;	     /* no frames where no_stack */
};

struct dump_process {
	struct process *process;     /* who it is: comm, user, container, pod, gpus; of `model` */
	char *command;		     /* the command line, with spaces; NULL: not known */
	struct dump_thread *threads; /* the main thread first, then by rising tid */
	size_t thread_count;
	size_t unseen;	/* threads beyond what is looked at */
	size_t in_cuda; /* threads with `call` or `by` */
	bool maps_cuda; /* a CUDA library is mapped, or the program has the runtime inside */
};

struct dump {
	struct model model; /* .processes are those below, .gpus NVML's */
	struct dump_process *processes;
	size_t count;
	uint64_t boot_ns;  /* when the threads were taken, CLOCK_BOOTTIME */
	uint64_t taken_ns; /* how long that took, from gpuprobe's start on */
};

#endif
