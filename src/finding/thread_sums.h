/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings about threads. A process may have hundreds of threads that do the same: the worst ones
 * get a finding each, which gives the total number.
 */
#ifndef FINDING_THREAD_SUMS_H
#define FINDING_THREAD_SUMS_H

#include "finding/finding.h"
#include "model/profile.h"

#define THREADS_SHOWN 4
/* for a thread active for less, shares of its time mean nothing */
#define THREAD_LEAST_NS 100000000

struct watched_thread {
	const struct finding_input *input;
	const struct process *process;
	const struct thread_profile *thread;
	uint64_t ns; /* how long it was watched; at least THREAD_LEAST_NS */
};

/* What the fault costs this thread; 0: it does not have the fault. */
typedef uint64_t (*thread_cost_fn)(const struct watched_thread *watched);

/* Fills in the finding, which already has its thread and cost. 0 or -ENOMEM. */
typedef int (*thread_detect_fn)(const struct watched_thread *watched, struct finding *finding);

/*
 * Adds a finding for each of the threads with the highest cost, among those active for long enough.
 * 0 or -ENOMEM.
 */
int thread_sums__make(const struct finding_input *input, const struct process *process,
		      thread_cost_fn cost, thread_detect_fn detect, struct finding_list *out);

/* `ns` as a share of the thread's watched time. */
double thread_sums__share(const struct watched_thread *watched, uint64_t ns);

/*
 * The saving if the thread need not wait as long. It is at most `ns`. It is also at most the
 * thread's other time, since the GPU's work still has to be done, plus the cost of `calls` waits
 * with nothing to wait for.
 */
uint64_t thread_sums__overlap(const struct watched_thread *watched, uint64_t ns, uint64_t calls);

/* Cost of a wait with nothing to wait for: 236 to 438 ns on an H200 (docs/case-studies.md). */
#define EMPTY_WAIT_NS 250

/* The thread's launches, including estimated ones. */
uint64_t thread_sums__launches(const struct watched_thread *watched);

/* Launches that each watched one stands for: 1 if all were watched. */
double thread_sums__launch_scale(const struct watched_thread *watched);

/*
 * Some of the thread's waits, classified by the launches before them, plus a proportional part of
 * the waits before which not all launches were watched.
 */
struct time_totals thread_sums__waits(const struct watched_thread *watched,
				      const struct time_totals *waits);

#endif
