// SPDX-License-Identifier: BSD-2-Clause
// Processes that have not ended, see living.h.
#include "model/living.h"

#include <errno.h>
#include <stdlib.h>

#include "model/process_rates.h"

/* NVML's figure has the context too, but is unknown at times. */
static uint64_t bytes_of(const struct process *process)
{
	uint64_t reported = process__nvml_bytes(process),
		 live = process__live_device_bytes(process);

	return reported == GPU_UNKNOWN_BYTES || reported < live ? live : reported;
}

static int compare(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a;
	const struct process *y = *(const struct process *const *)b;
	uint64_t x_bytes = bytes_of(x), y_bytes = bytes_of(y);

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
