/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What submitting threads, and the threads they wait for, did with their time since they were
 * followed or, if known, since their process is steady (model/steady.h). Plain data, filled by
 * host/. Partners and files cover the whole time: only their identity and order are used, not their
 * times. Texts come from watched processes: escape them.
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/host.h"
#include "stack/stack.h"

#define HOST_PARTNERS 4 /* partners reported per activity of a thread: those with the most time */
#define HOST_NO_THREAD SIZE_MAX
#define HOST_FILE_SIZE 144

/* A thread that ended sleeps of the thread, or a process that had its CPU. */
struct host_partner {
	/* 0: outside gpuprobe's pid namespace; a rival is a process and has no tid */
	int32_t tid, pid;
	char comm[HOST_COMM_SIZE];
	uint64_t ns, count;
	size_t thread; /* index of its own profile among the process's threads, or HOST_NO_THREAD */
};

/* A file that a thread waited for. */
struct host_file_wait {
	/* as in /proc, or ".../FOLDER/NAME" of the latest file; empty: unknown */
	char name[HOST_FILE_SIZE];
	uint64_t ns, count;
};

/* Time of one activity, in one class of CUDA call, at one line of the user's code. */
struct host_location {
	enum host_activity activity;
	enum host_class class;
	uint64_t ns, times;
	const char *call_name; /* ACTIVITY_OTHER: name of the system call; NULL: unknown */
	/* one of the stacks that lead to the line; NULL: none was taken */
	const struct stack *stack;
};

struct host_thread {
	int32_t tid, pid;
	char comm[HOST_COMM_SIZE];
	/*
	 * otherwise it is followed because it wakes submitting threads, directly or through others
	 */
	bool submits;
	bool ended;
	/*
	 * if its process listens for connections, the socket at which it waits: one that listens or
	 * was accepted, or one that the process connected. Both false: unknown
	 */
	bool serves, asks;
	uint64_t watched_ns;
	/* most time first; .count 0 ends the list */
	struct host_partner wakers[HOST_ACTIVITIES][HOST_PARTNERS];
	struct host_partner rivals[HOST_PARTNERS];
	struct host_file_wait files[HOST_PARTNERS];
	/* most time first; together they make up approximately watched_ns */
	struct host_location *locations;
	size_t location_count;
};

struct host_process {
	int32_t pid;
	uint64_t start_ns;
	/* submitting ones first; others may belong to other processes */
	struct host_thread *threads;
	size_t thread_count;
	bool serves;	  /* it listens for connections */
	bool limit_known; /* limited_ns is known */
	/*
	 * how long its cgroup kept its threads from running by the CPU limit, in the same time,
	 * summed over threads
	 */
	uint64_t limited_ns;
};

struct host_side {
	const char *lack; /* why no thread is followed; NULL: threads are followed */
	struct host_process *processes;
	size_t process_count;
	uint64_t unfollowed; /* threads not followed for lack of room */
};

/* Whether the two may be the same start of a process: one may only be known in clock ticks. */
bool host__is_same_start(uint64_t start_ns, uint64_t other_ns);

/* The process's entry, or NULL. */
const struct host_process *host_side__find(const struct host_side *side, int32_t pid,
					   uint64_t start_ns);

#endif
