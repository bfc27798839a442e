/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads that submit work, and those they wait for, did with their time since they were followed, or, where that
 * is known, since their process is steady (model/steady.h): plain data, made by host/. Partners and files are of all the
 * time: who they are and their order is asked for, not how long. Texts come from watched processes: to be escaped.
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/host.h"
#include "stack/stack.h"

#define HOST_PARTNERS 4 /* of an activity that are told of a thread: those with the most time */
#define HOST_NO_THREAD SIZE_MAX
#define HOST_FILE_SIZE 144

/* Who ended sleeps of a thread, or had its CPU. */
struct host_partner {
	int32_t tid, pid; /* 0: outside of gpuprobe's pid namespace; a rival is a process, without tid */
	char comm[HOST_COMM_SIZE];
	uint64_t ns, count;
	size_t thread; /* its own profile among the process's threads, or HOST_NO_THREAD */
};

/* A file that a thread waited for. */
struct host_file_wait {
	char name[HOST_FILE_SIZE]; /* as /proc has it, or ".../FOLDER/NAME" of the latest file; empty: not known */
	uint64_t ns, count;
};

/* Time of one activity, in one class of CUDA call, at one line of the user's. */
struct host_place {
	enum host_activity activity;
	enum host_class class;
	uint64_t ns, times;
	const char *call_name;	   /* of the system call of ACTIVITY_OTHER; NULL: not known */
	const struct stack *stack; /* one of those that lead there; NULL: none was taken */
};

struct host_thread {
	int32_t tid, pid;
	char comm[HOST_COMM_SIZE];
	bool submits; /* else it is followed since it wakes those that do, or others that do that */
	bool ended;
	uint64_t watched_ns;
	struct host_partner wakers[HOST_ACTIVITIES][HOST_PARTNERS]; /* those with most time first; .count 0: no more */
	struct host_partner rivals[HOST_PARTNERS];
	struct host_file_wait files[HOST_PARTNERS];
	struct host_place *places; /* those with most time first; all of them are watched_ns, about */
	size_t place_count;
};

struct host_process {
	int32_t pid;
	uint64_t start_ns;
	struct host_thread *threads; /* those that submit first; others' may be of other processes */
	size_t thread_count;
	bool serves;	     /* it listens for connections */
	bool limit_known;    /* whether its control group was kept from running for want of CPU */
	uint64_t limited_ns; /* so long, of all its threads, in the same time */
};

struct host_side {
	const char *lack; /* why no thread is followed; NULL: they are */
	struct host_process *processes;
	size_t process_count;
	uint64_t unfollowed; /* threads that there was no room for */
};

/* Whether these can be one start of a process: it may be known in clock ticks alone. */
bool host__is_same_start(uint64_t start_ns, uint64_t other_ns);

/* That of the process, or NULL. */
const struct host_process *host_side__find(const struct host_side *side, int32_t pid, uint64_t start_ns);

#endif
