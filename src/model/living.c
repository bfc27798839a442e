// SPDX-License-Identifier: BSD-2-Clause
// Processes that have not ended, see living.h.
#include "model/living.h"

#include <errno.h>
#include <stdlib.h>

#include "model/process_rates.h"

static int compare(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a;
	const struct process *y = *(const struct process *const *)b;
	bool at_least;
	uint64_t x_bytes = process__held_bytes(x, &at_least),
		 y_bytes = process__held_bytes(y, &at_least);

	if (x_bytes != y_bytes)
		return x_bytes < y_bytes ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

int model__living(const struct model *model, const struct process ***list, size_t *count)
{
	const struct process **living = calloc(model->process_count + 1, sizeof(*living));

	*list = living;
	*count = 0;
	if (!living)
		return -ENOMEM;
	for (size_t i = 0; i < model->process_count; i++)
		if (!model->processes[i].ended)
			living[(*count)++] = &model->processes[i];
	qsort(living, *count, sizeof(*living), compare);
	return 0;
}
