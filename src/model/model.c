// SPDX-License-Identifier: BSD-2-Clause
// Functions of a whole model, see model.h.
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

bool model__has_losses(const struct model *model)
{
	for (int loss = 0; loss < LOSS_COUNT; loss++)
		if (model->lost[loss])
			return true;
	return false;
}

void model__clear(struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		process__clear(&model->processes[i]);
	free(model->processes);
	free(model->gpus);
	memset(model, 0, sizeof(*model));
}
