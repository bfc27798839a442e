/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches of a thread whose findings are drawn.
 */
#ifndef TESTS_FINDING_LAUNCHES_H
#define TESTS_FINDING_LAUNCHES_H

#include "finding_case.h"
#include "finding/threads.h"
#include "finding/sequence.h"
#include "model/kernels.h"

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

static inline void launch(struct thread_account *thread, uint64_t handle)
{
	thread->sequence[thread->sequence_count++ % SEQUENCE_KEPT] = handle;
}

static inline void rounds(struct thread_account *thread, const char *letters, int count)
{
	while (count--)
		for (const char *letter = letters; *letter; letter++)
			launch(thread, (uint64_t)*letter);
}

#endif
