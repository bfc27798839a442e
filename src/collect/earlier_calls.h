/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that began before gpuprobe started, so no probe has seen them. Before each reading,
 * cli/session/earlier.h checks their threads and notes until when each was in its call. The reading
 * finds calls that may have returned all the same: the process has counted a call of that function,
 * or the thread is in a call whose beginning was seen.
 *
 * The others are listed among the calls in progress. The time in each call, from attach until its
 * thread was last seen in it, is added to what is counted, and stays there.
 */
#ifndef COLLECT_EARLIER_CALLS_H
#define COLLECT_EARLIER_CALLS_H

#include "collect/open_time.h"

struct earlier_call {
	pid_t pid, tid;
	char comm[16];		  /* the thread's */
	uint64_t thread_start_ns; /* start of the thread, CLOCK_BOOTTIME */
	/* from the CUDA function outwards; outlives the collector; NULL: unknown */
	const struct stack *stack;
	uint16_t row;	   /* the function that would have counted it */
	int other;	   /* row of the same call in the other API layer; -1: none */
	uint64_t stood_ns; /* when its thread was last seen in it, CLOCK_BOOTTIME */
	bool over;
	bool found; /* its process has been in the model, with these values: */
	uint32_t slot;
	uint64_t process_start_ns;
};

/* Release with free(list). */
struct earlier_calls {
	struct earlier_call *list;
	size_t count;
	uint64_t began_ns; /* the calls count as if they had begun then, CLOCK_BOOTTIME */
};

/*
 * Decides which of `calls` are over, lists the others, and adds the time in each. Call it once a
 * reading has listed the calls in progress whose beginning was seen. Drops the calls of processes
 * that have left the model. Returns 0 or -ENOMEM.
 */
int earlier_calls__count(struct earlier_calls *calls, const struct reading *reading,
			 struct open_time *time);

#endif
