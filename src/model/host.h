/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads that submit work, and those they wait for, did with their time since a moment that may be set anew: plain
 * data, made by host/. Texts come from watched processes: to be escaped.
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/host.h"
#include "model/stack.h"

#define HOST_PARTNERS 4 /* of a kind that are told of a thread: those with the most time */
#define HOST_NO_THREAD SIZE_MAX
#define HOST_FILE_SIZE 144

/* Who ended sleeps of a thread, or had its CPU. */
struct host_partner {
	int32_t tid, pid; /* 0: outside of gpuprobe's pid namespace; a rival is a process */
	char comm[HOST_COMM_SIZE];
	uint64_t ns, count;
	size_t thread; /* its own account among the process's threads, or HOST_NO_THREAD */
};

/* What a thread waited for data of, or data to go to. */
struct host_read {
	int32_t fd;
	char name[HOST_FILE_SIZE]; /* as /proc has it, or ".../FOLDER/NAME" of the latest file; empty: not known */
	uint64_t ns, count;
};

/* Time of one kind, in one class of CUDA call, at one line. */
struct host_reason {
	enum host_kind kind;
	enum host_class class;
	uint64_t ns;
	uint32_t call;	       /* number of the system call of HOST_OTHER, or ~0 */
	const char *call_name; /* NULL: not known */
	/* The user's own line, see model/user_line.h; .function NULL: not known. Texts are the stack's. */
	struct stack_frame line;
	uint32_t frame;		   /* which of the stack's frames that is */
	const struct stack *stack; /* one of those that lead there; NULL: none was taken */
	size_t thread;		   /* among the process's threads: who spends the most of it */
	struct host_partner waker; /* who ended the most of it; .count 0: nobody is known */
};

struct host_thread {
	int32_t tid, pid;
	char comm[HOST_COMM_SIZE];
	uint64_t start_ns;
	bool submits; /* else it is followed since it wakes those that do, or others that do that */
	bool ended;
	uint64_t watched_ns;
	/* Times by kind and class; those on a CPU are shared out among the classes by samples. Their sum is watched_ns, about. */
	uint64_t ns[HOST_KINDS][HOST_CLASSES];
	uint64_t times[HOST_KINDS];
	uint64_t samples;
	uint64_t known_ns;				       /* of watched_ns: waits of a known kind, CUDA calls, and on a CPU with a stack */
	struct host_partner wakers[HOST_KINDS][HOST_PARTNERS]; /* those with most time first; .count 0: no more */
	struct host_partner rivals[HOST_PARTNERS];
	struct host_read reads[HOST_PARTNERS];
	struct host_reason *reasons; /* those with most time first */
	size_t reason_count;
};

/* Limits on CPU time that a process's control group ran into. */
struct host_throttle {
	bool known; /* whether there is such a limit, and how often it was met */
	uint64_t periods, throttled_periods;
	uint64_t throttled_ns; /* of all its threads */
};

struct host_process {
	int32_t pid;
	uint64_t start_ns;
	struct host_thread *threads; /* those that submit first; others' may be of other processes */
	size_t thread_count;
	/* Of those that submit, all together */
	uint64_t watched_ns, known_ns;
	struct host_reason *reasons; /* but for waits for the GPU; those with most time first */
	size_t reason_count;
	struct host_throttle throttle;
};

struct host_side {
	bool asked;	  /* threads were to be followed */
	const char *lack; /* why none are; NULL: they are */
	uint64_t since_ns;
	struct host_process *processes;
	size_t process_count;
	uint64_t unfollowed; /* threads that there was no room for */
};

/* That of the process, or NULL. */
const struct host_process *host_side__find(const struct host_side *side, int32_t pid, uint64_t start_ns);

/* All the thread's time of a kind. */
uint64_t host_thread__kind_ns(const struct host_thread *thread, enum host_kind kind);

/* Words of JSON for these: "cpu", "gil"; "outside", "launch". */
const char *host_kind__word(enum host_kind kind);
const char *host_class__word(enum host_class class);

#endif
