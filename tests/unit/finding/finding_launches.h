/* SPDX-License-Identifier: BSD-2-Clause */
/* Launches of a thread whose findings are detected. */
#ifndef TESTS_FINDING_LAUNCHES_H
#define TESTS_FINDING_LAUNCHES_H

#include "finding_case.h"
#include "finding/thread_sums.h"
#include "finding/sequence.h"
#include "model/kernels.h"
#include "model/steps.h"

static const struct stack somewhere = {.serial = 7}, elsewhere = {.serial = 8};

static inline struct time_totals totals(uint64_t calls, uint64_t ns)
{
	return (struct time_totals){.calls = calls, .ns = ns};
}

static inline void name_kernel(struct process *process, uint64_t handle, const char *name)
{
	const struct launch_key key = {.kernel.handle = handle};

	if (!process->kernel_table)
		process->kernel_table = kernel_table__new();
	assert_int_equal(kernel_table__set(process->kernel_table, &key, 1, name), 0);
}

/* Sets the thread's steps: one launch per letter. Release with process_steps__free. */
static inline struct step_thread *repeats(struct process *process,
					  const struct thread_profile *thread, const char *letters)
{
	struct step_thread *steps;

	if (!process->steps)
		process->steps = process_steps__new();
	steps = process_steps__add(process->steps);
	steps->tid = thread->tid;
	steps->start_ns = thread->start_ns;
	steps->phase_count = 1;
	steps->phases[0].anchor.launches = (uint32_t)strlen(letters);
	for (uint64_t i = 0; i < 100; i++)
		step_phase__add(&steps->phases[0], BEGAN + i * NS_PER_MS, NS_PER_MS);
	steps->round_length = strlen(letters);
	steps->round = malloc(steps->round_length * sizeof(*steps->round));
	for (size_t i = 0; i < steps->round_length; i++)
		steps->round[i] = (uint64_t)letters[i];
	return steps;
}

#endif
