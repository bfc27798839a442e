// SPDX-License-Identifier: BSD-2-Clause
// Sums over one process, and the release of what it owns, see process.h.
#include "model/process.h"

#include <stdlib.h>

#include "model/at_failure.h"
#include "model/kernels.h"
#include "model/object_sites.h"
#include "model/profile.h"
#include "model/sites.h"
#include "model/steps.h"
#include "model/tensors.h"
#include "target/workload.h"

void process__clear(struct process *process)
{
	kernel_table__clear_list(process);
	kernel_table__free(process->kernel_table);
	process->kernel_table = NULL;
	site_table__clear_lists(process);
	site_table__free(process->site_table);
	process->site_table = NULL;
	site_table__free(process->pinned_table);
	process->pinned_table = NULL;
	object_table__free(process->object_table);
	process->object_table = NULL;
	profile__free(process->profile);
	process->profile = NULL;
	process_steps__free(process->steps);
	process->steps = NULL;
	tensors__free(process->tensors);
	process->tensors = NULL;
	at_failure__free(process->at_failure);
	process->at_failure = NULL;
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
	free(process->workload);
	free(process->shim);
	free(process->driver);
	free(process->uuids);
	free(process->open);
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
	process->workload = NULL;
	process->shim = NULL;
	process->driver = NULL;
	process->uuids = NULL;
	process->open = NULL;
}

size_t process__bytes(const struct process *p)
{
	size_t bytes = sizeof(*p) + kernel_table__bytes(p->kernel_table) +
		       site_table__bytes(p->site_table) + site_table__bytes(p->pinned_table) +
		       profile__bytes(p->profile) + object_table__bytes(p->object_table) +
		       process_steps__bytes(p->steps) + tensors__bytes(p->tensors) +
		       at_failure__bytes(p->at_failure);

	bytes += p->live_listed * sizeof(*p->live) + p->freed_listed * sizeof(*p->freed);
	bytes += p->pool_count * sizeof(*p->pools) + p->kernel_count * sizeof(*p->kernels);
	bytes += p->graph_run_capacity * sizeof(*p->graph_runs) +
		 p->device_count * sizeof(*p->devices);
	bytes += p->function_capacity * sizeof(*p->functions) +
		 p->failure_count * sizeof(*p->failures);
	bytes += p->failure_key_count * sizeof(*p->failure_keys) +
		 p->context_end_count * sizeof(*p->context_ends);
	bytes += (p->site_count + p->object_call_count) * sizeof(*p->sites) +
		 p->live_site_count * sizeof(*p->live_sites) +
		 p->object_site_count * sizeof(*p->object_sites);
	bytes += p->workload ? sizeof(*p->workload) : 0;
	return bytes + p->gpu_count * sizeof(*p->gpus) + p->uuid_count * sizeof(*p->uuids);
}

uint64_t process__nvml_bytes(const struct process *process)
{
	uint64_t bytes = GPU_UNKNOWN_BYTES;

	for (size_t i = 0; i < process->gpu_count; i++) {
		uint64_t used = process->gpus[i].used_bytes;

		if (used != GPU_UNKNOWN_BYTES)
			bytes = bytes == GPU_UNKNOWN_BYTES ? used : bytes + used;
	}
	return bytes;
}

uint64_t process__calls(const struct process *process)
{
	uint64_t calls = process->launches;

	for (size_t i = 0; i < process->function_count; i++)
		calls += process->functions[i].calls + process->functions[i].failures;
	return calls;
}
