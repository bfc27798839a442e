// SPDX-License-Identifier: BSD-2-Clause
// Finds a process of a model, and releases what the model owns, see model.h.
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

const struct process *model__process_of(const struct model *model, int32_t pid, uint64_t alive_ns)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].pid == pid &&
		    process__is_alive_after(&model->processes[i], alive_ns))
			return &model->processes[i];
	return NULL;
}

void model__clear(struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		process__clear(&model->processes[i]);
	free(model->processes);
	free(model->gpus);
	memset(model, 0, sizeof(*model));
}
