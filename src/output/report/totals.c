// SPDX-License-Identifier: BSD-2-Clause
// Sums over the processes of a report, see totals.h.
#include "output/report/totals.h"

#include <string.h>

#include "base/saturate.h"
#include "model/devices.h"

bool report__shows(const struct process *process)
{
	return !(process->ended && process->reported_end);
}

static void add(struct memory_totals *sum, const struct memory_totals *m)
{
	sum->allocations += m->allocations;
	sum->allocation_failures += m->allocation_failures;
	sum->allocation_ns += m->allocation_ns;
	sum->frees += m->frees;
	sum->free_failures += m->free_failures;
	sum->unknown_frees += m->unknown_frees;
	sum->never_live += m->never_live;
	sum->replaced += m->replaced;
	sum->with_context += m->with_context;
	saturate__add(&sum->with_context_bytes, m->with_context_bytes);
	saturate__add(&sum->live_bytes, m->live_bytes);
	sum->live_count += m->live_count;
}

void report__device_memory(const struct process *process, struct memory_totals *sum)
{
	int kind;

	memset(sum, 0, sizeof(*sum));
	for (kind = 0; kind < MEMORY_KINDS; kind++) {
		if (memory_kind__is_device(kind) || kind == MEMORY_UNKNOWN)
			add(sum, &process->memory[kind]);
	}
}

static void add_process(struct report_totals *totals, const struct process *process)
{
	struct memory_totals host = process->memory[MEMORY_HOST], device;

	report__device_memory(process, &device);
	if (process->ended) {
		device.live_bytes = device.live_count = 0;
		host.live_bytes = host.live_count = 0;
		saturate__add(&totals->live_at_exit_bytes, process->live_at_exit_bytes);
		totals->live_at_exit_count += process->live_at_exit_count;
	}
	add(&totals->device, &device);
	add(&totals->host, &host);
	totals->launches += process->launches;
	totals->captured_launches += process->captured_launches;
	totals->graph_launches += process->graph_launches;
	totals->graph_kernels += process->graph_kernels;
	totals->graph_launches_of_unknown_size += process->graph_launches_of_unknown_size;
	totals->estimated |= process__is_estimated(process, RATE_LAUNCH);
	totals->kernels += process->kernel_count;
	totals->processes++;
	totals->since_attach += process->since_attach;
}

void report_totals__sum(const struct model *model, struct report_totals *totals)
{
	size_t i;

	memset(totals, 0, sizeof(*totals));
	for (i = 0; i < model->process_count; i++) {
		if (report__shows(&model->processes[i]))
			add_process(totals, &model->processes[i]);
	}
}
