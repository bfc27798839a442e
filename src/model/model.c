// SPDX-License-Identifier: BSD-2-Clause
// Releases what a model owns, see model.h.
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "model/account.h"
#include "model/kernels.h"
#include "model/sites.h"

void process__clear(struct process *process)
{
	kernel_table__clear_list(process);
	kernel_table__free(process->kernel_table);
	process->kernel_table = NULL;
	site_table__clear_lists(process);
	site_table__free(process->site_table);
	process->site_table = NULL;
	account__free(process->account);
	process->account = NULL;
	free(process->live);
	free(process->freed);
	free(process->failures);
	free(process->failure_keys);
	free(process->devices);
	free(process->functions);
	free(process->pools);
	free(process->context_ends);
	free(process->graph_runs);
	free(process->gpus);
	free(process->environment);
	free(process->shim);
	free(process->driver);
	free(process->uuids);
	process->live = NULL;
	process->freed = NULL;
	process->failures = NULL;
	process->failure_keys = NULL;
	process->devices = NULL;
	process->functions = NULL;
	process->pools = NULL;
	process->context_ends = NULL;
	process->graph_runs = NULL;
	process->gpus = NULL;
	process->environment = NULL;
	process->shim = NULL;
	process->driver = NULL;
	process->uuids = NULL;
}

void model__clear(struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		process__clear(&model->processes[i]);
	free(model->processes);
	free(model->gpus);
	memset(model, 0, sizeof(*model));
}
