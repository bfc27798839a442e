/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that began before gpuprobe came, and that no probe has seen. Somebody looks at their threads (cli/session/earlier.h) before each
 * reading and says until when they have stood in them; the reading says which can have returned all the same: such a call
 * of the process has been counted, or the thread is in one that was seen to begin. Those in progress are listed among the
 * calls in progress. The time in each, from attach on and as far as its thread was seen to stand in it, comes to what is
 * counted, and stays there.
 */
#ifndef COLLECT_EARLIER_CALLS_H
#define COLLECT_EARLIER_CALLS_H

#include "collect/open_time.h"

struct earlier_call {
	pid_t pid, tid;
	char comm[16];		   /* the thread's */
	uint64_t thread_start_ns;  /* CLOCK_BOOTTIME, of the thread */
	const struct stack *stack; /* from the CUDA function on, outlives the collector; NULL: not known */
	uint16_t row;		   /* under which it would have been counted */
	int other;		   /* of the other layer; -1: none */
	uint64_t stood_ns;	   /* CLOCK_BOOTTIME: when its thread was last seen to stand in it */
	bool over;
	bool found; /* its process has been in the model, as: */
	uint32_t slot;
	uint64_t process_start_ns;
};

/* Release with free(list). */
struct earlier_calls {
	struct earlier_call *list;
	size_t count;
	uint64_t began_ns; /* CLOCK_BOOTTIME: as if they had begun then */
};

/*
 * To be called once a reading has listed the calls in progress that were seen to begin: what `calls` are, and the time in them.
 * Those of processes that have left the model go. Returns 0 or -ENOMEM.
 */
int earlier_calls__count(struct earlier_calls *calls, const struct reading *reading, struct open_time *time);

#endif
