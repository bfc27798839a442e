// SPDX-License-Identifier: BSD-2-Clause
// The kernels of a step: those of its thread, and of others that have steps meanwhile.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/step_kernels.h"

static struct step_thread *add_thread(struct process_steps *steps, int32_t tid, uint64_t count,
				      const uint64_t *round, size_t length)
{
	struct step_thread *thread = process_steps__add(steps);

	assert_non_null(thread);
	thread->tid = tid;
	thread->totals.launches = count * length;
	thread->phase_count = 1;
	thread->phases[0].anchor.launches = (uint32_t)length;
	thread->phases[0].steps = count;
	thread->phases[0].ns = count * 1000;
	thread->round = malloc(length * sizeof(*round));
	assert_non_null(thread->round);
	memcpy(thread->round, round, length * sizeof(*round));
	thread->round_length = length;
	return thread;
}

static void test_kernels(void **state)
{
	static const uint64_t forward[] = {30, 10, 30, 20}, backward[] = {40, 10};
	struct process process = {.pid = 1, .steps = process_steps__new()};
	struct step_summary summary;
	struct step_kernel *kernels;
	struct step_thread *thread;
	size_t count;

	(void)state;
	assert_non_null(process.steps);
	thread = add_thread(process.steps, 1, 100, forward, 4);
	thread->totals.waits = 100;
	add_thread(process.steps, 2, 200, backward, 2);
	step_summary__make(&process, &summary);
	assert_int_equal(summary.thread->tid, 1);
	assert_int_equal(step_kernels__list(process.steps, &summary, &kernels, &count), 0);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(kernels[i].handle, 10 * (i + 1));
	/* The second thread has two rounds for each step. */
	assert_true(kernels[0].launches == 3 && kernels[1].launches == 1);
	assert_true(kernels[2].launches == 2 && kernels[3].launches == 2);
	free(kernels);
	process_steps__free(process.steps);
}

/* The round is that of the latest phase, which may be another one. */
static void test_unknown(void **state)
{
	static const uint64_t round[] = {1, 2};
	struct process process = {.pid = 1, .steps = process_steps__new()};
	struct step_summary summary;
	struct step_kernel *kernels;
	struct step_thread *thread;
	size_t count;

	(void)state;
	assert_non_null(process.steps);
	step_summary__make(&process, &summary);
	assert_int_equal(step_kernels__list(process.steps, &summary, &kernels, &count), 0);
	assert_null(kernels);
	assert_int_equal(count, 0);
	thread = add_thread(process.steps, 1, 100, round, 2);
	thread->phases[1] = thread->phases[0];
	thread->phases[1].ns /= 2;
	thread->phase_count = 2;
	thread->current = 1;
	step_summary__make(&process, &summary);
	assert_int_equal(step_kernels__list(process.steps, &summary, &kernels, &count), 0);
	assert_null(kernels);
	thread->current = 0;
	assert_int_equal(step_kernels__list(process.steps, &summary, &kernels, &count), 0);
	assert_int_equal(count, 2);
	free(kernels);
	process_steps__free(process.steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
