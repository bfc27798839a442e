/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings of threads. A process may have hundreds that do the same: the worst
 * of them have a finding each, which says how many there are.
 */
#ifndef FINDING_THREAD_SUMS_H
#define FINDING_THREAD_SUMS_H

#include "finding/finding.h"
#include "model/profile.h"

#define THREADS_SHOWN 4
#define THREAD_LEAST_NS 100000000 /* a thread that was active for less tells nothing by shares of its time */

struct watched_thread {
	const struct finding_input *input;
	const struct process *process;
	const struct thread_profile *thread;
	uint64_t ns; /* how long it was watched; at least THREAD_LEAST_NS */
};

/* What the fault costs this thread; 0: it has none. */
typedef uint64_t (*thread_cost_fn)(const struct watched_thread *watched);

/* Fills in the finding, which has its thread and cost. 0 or -ENOMEM. */
typedef int (*thread_detect_fn)(const struct watched_thread *watched, struct finding *finding);

/* Adds a finding for each of the threads that it costs most, of those active for long enough. 0 or -ENOMEM. */
int thread_sums__make(const struct finding_input *input, const struct process *process, thread_cost_fn cost,
		      thread_detect_fn detect, struct finding_list *out);

/* `ns` as a share of the time that the thread was watched. */
double thread_sums__share(const struct watched_thread *watched, uint64_t ns);

/*
 * What is saved where the thread need not wait so long: at most `ns`, and at
 * most what it does besides, since the GPU's work has to be done still, and
 * `calls` times what a wait costs that has nothing to wait for.
 */
uint64_t thread_sums__overlap(const struct watched_thread *watched, uint64_t ns, uint64_t calls);

/* What a wait costs that has nothing to wait for: 236 to 438 ns on an H200 (docs/case-studies.md). */
#define EMPTY_WAIT_NS 250

/* Launches of the thread, with those that are estimated. */
uint64_t thread_sums__launches(const struct watched_thread *watched);

/* So many launches stand behind each that was watched: 1 where all were. */
double thread_sums__launch_scale(const struct watched_thread *watched);

/*
 * Some of the thread's waits, told apart by the launches before them, and in proportion those before which not all launches
 * were watched.
 */
struct time_totals thread_sums__waits(const struct watched_thread *watched, const struct time_totals *waits);

#endif
