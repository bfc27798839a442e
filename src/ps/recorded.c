// SPDX-License-Identifier: BSD-2-Clause
// Processes of a recorded reading, see recorded.h.
#include "ps/recorded.h"

#include <stdlib.h>

static const struct process *find_parent(const struct model *model, const struct process *child)
{
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (child->parent && !process->ended && process->pid == child->parent)
			return process;
	}
	return NULL;
}

static void take_row(struct ps_row *row, const struct model *model, struct process *process)
{
	const struct process *parent = find_parent(model, process);

	*row = (struct ps_row){
		.process = process,
		.command = process->command[0] ? process->command : NULL,
		.context = process->gpu_count ? PS_HAS_CONTEXT : PS_CONTEXT_UNKNOWN,
		.ancestor = parent ? parent->pid : 0,
	};
	for (size_t i = 0; i < process->gpu_count; i++) {
		int gpu = process->gpus[i].gpu;

		if (gpu >= 0 && gpu < NVML_MAX_GPUS)
			row->on_gpus[gpu / 64] |= UINT64_C(1) << gpu % 64;
	}
}

struct ps *ps_recorded__new(const struct model *model)
{
	struct ps *ps = calloc(1, sizeof(*ps));

	if (ps)
		ps->rows = calloc(model->process_count + 1, sizeof(*ps->rows));
	if (!ps || !ps->rows) {
		free(ps);
		return NULL;
	}
	ps->model.wall = model->wall;
	ps->model.now_ns = ps->boot_ns = model->now_ns;
	ps->model.gpus = model->gpus;
	ps->model.gpu_count = model->gpu_count;
	for (size_t i = 0; i < model->process_count; i++) {
		if (model->processes[i].ended)
			continue;
		if (ps->count < PS_ROWS_MAX)
			take_row(&ps->rows[ps->count++], model, &model->processes[i]);
		else
			ps->left_out++;
	}
	ps__sort(ps);
	ps__note(ps, "a recording: what the threads did, libraries, and processes that had made no "
		     "CUDA call are unknown");
	return ps;
}

void ps_recorded__free(struct ps *ps)
{
	if (!ps)
		return;
	/* Processes, their texts and GPUs are the reading's. */
	free(ps->rows);
	free(ps);
}
