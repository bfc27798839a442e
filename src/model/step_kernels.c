// SPDX-License-Identifier: BSD-2-Clause
// The kernels and graphs of a step, see step_kernels.h.
#include "model/step_kernels.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* The phase to which the thread's round belongs; NULL: it spent more time in other steps. */
static const struct step_phase *phase_of_round(const struct step_thread *thread)
{
	const struct step_phase *phase = step_thread__main_phase(thread);

	return phase && thread->round_length && phase == &thread->phases[thread->current] ? phase :
											    NULL;
}

static int by_handle(const void *a, const void *b)
{
	const struct step_kernel *x = a, *y = b;

	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

static size_t merge_equal(struct step_kernel *kernels, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept && kernels[kept - 1].handle == kernels[i].handle)
			kernels[kept - 1].launches += kernels[i].launches;
		else
			kernels[kept++] = kernels[i];
	}
	return kept;
}

static int add_round(const struct step_thread *thread, double rounds, struct step_kernel **kernels,
		     size_t *count)
{
	if (ARRAY_RESERVE(*kernels, *count, thread->round_length))
		return -ENOMEM;
	for (size_t i = 0; i < thread->round_length; i++)
		(*kernels)[(*count)++] = (struct step_kernel){thread->round[i], rounds};
	return 0;
}

int step_kernels__list(const struct process_steps *steps, const struct step_summary *summary,
		       struct step_kernel **kernels, size_t *count)
{
	int ret = 0;

	*kernels = NULL;
	*count = 0;
	if (!summary->phase || phase_of_round(summary->thread) != summary->phase)
		return 0;
	for (size_t i = 0; i < steps->count && !ret; i++) {
		const struct step_phase *phase = phase_of_round(steps->threads[i]);

		if (phase)
			ret = add_round(steps->threads[i],
					(double)phase->steps / (double)summary->phase->steps,
					kernels, count);
	}
	if (ret) {
		free(*kernels);
		*kernels = NULL;
		*count = 0;
		return ret;
	}
	if (*count)
		qsort(*kernels, *count, sizeof(**kernels), by_handle);
	*count = merge_equal(*kernels, *count);
	return 0;
}
