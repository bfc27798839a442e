// SPDX-License-Identifier: BSD-2-Clause
// The counts of each process at the previous report, see parts.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/saturate.h"
#include "base/table.h"
#include "model/copied.h"
#include "output/monitor/parts.h"
#include "output/report/totals.h"

struct key {
	uint64_t pid, start_ns;
};

struct monitor_kept {
	struct key key;
	struct monitor_counts counts;
	uint64_t report; /* number of the report that it is of */
	/* of the kernels launched most */
	struct {
		uint64_t serial, launches;
	} kernels[MONITOR_KERNELS];
	size_t kernel_count;
	uint64_t next_serial; /* of kernels that came later */
	UT_hash_handle hh;
};

struct monitor_history {
	struct monitor_kept *kept;
	uint64_t since_ns, began_ns;
	uint64_t reports;
};

static struct key key_of(const struct process *process)
{
	return (struct key){.pid = (uint64_t)process->pid, .start_ns = process->start_ns};
}

struct monitor_history *monitor_history__new(void)
{
	return calloc(1, sizeof(struct monitor_history));
}

void monitor_history__free(struct monitor_history *history)
{
	if (!history)
		return;
	TABLE_CLEAR(history->kept, free);
	free(history);
}

void monitor_history__begin(struct monitor_history *history, uint64_t began_ns)
{
	history->since_ns = history->began_ns = began_ns;
}

uint64_t monitor_history__since_ns(const struct monitor_history *history)
{
	return history->since_ns;
}

const struct monitor_kept *monitor_history__find(const struct monitor_history *history,
						 const struct process *process)
{
	struct key key = key_of(process);

	return TABLE_FIND(history->kept, key, &key);
}

/* --- counts --- */

uint64_t monitor_counts__wait_ns(const struct monitor_counts *counts)
{
	uint64_t ns = 0;

	for (int i = 0; i < MONITOR_WAITS; i++)
		ns += counts->wait_ns[i];
	return ns;
}

double monitor_counts__rate(const struct monitor_counts *counts, uint64_t count)
{
	return counts->ns ? (double)count * (double)NS_PER_S / (double)counts->ns : 0;
}

static void count(const struct model *model, const struct process *process,
		  struct monitor_counts *counts)
{
	struct memory_totals device;

	*counts = (struct monitor_counts){
		.ns = process->ended && process->ended_ns ? process->ended_ns : model->now_ns,
		.launches = process->launches + process->graph_launches,
		.graph_launches = process->graph_launches,
		.wait_ns[MONITOR_WAIT_COPIES] = process->copy_waits.ns,
		.wait_ns[MONITOR_WAIT_FREES] = process->free_waits.ns,
	};
	for (int scope = 0; scope < WAIT_SCOPES; scope++)
		counts->wait_ns[scope] = process->waits[scope].ns;
	for (enum copy_kind kind = 0; kind < COPY_KINDS; kind++) {
		struct copied copied = process__copied(process, kind);

		counts->copies += copied.calls;
		counts->copy_bytes[kind] = copied.bytes;
	}
	report__device_memory(process, &device);
	counts->live_bytes = process->ended ? process->live_at_exit_bytes : device.live_bytes;
}

void monitor_history__increase(const struct monitor_history *history,
			       const struct monitor_kept *kept, const struct model *model,
			       const struct process *process, bool totals,
			       struct monitor_counts *increase, double *change)
{
	struct monitor_counts before = {.ns = totals ? history->began_ns : history->since_ns};

	if (kept && !totals)
		before = kept->counts;
	else if (before.ns < process->start_ns)
		before.ns = process->start_ns;
	count(model, process, increase);
	increase->ns = saturate__difference(increase->ns, before.ns);
	increase->launches = saturate__difference(increase->launches, before.launches);
	increase->graph_launches =
		saturate__difference(increase->graph_launches, before.graph_launches);
	increase->copies = saturate__difference(increase->copies, before.copies);
	for (int kind = 0; kind < COPY_KINDS; kind++)
		increase->copy_bytes[kind] =
			saturate__difference(increase->copy_bytes[kind], before.copy_bytes[kind]);
	for (int i = 0; i < MONITOR_WAITS; i++)
		increase->wait_ns[i] =
			saturate__difference(increase->wait_ns[i], before.wait_ns[i]);
	*change = (double)increase->live_bytes - (double)before.live_bytes;
}

bool monitor_history__launches(const struct monitor_kept *kept, const struct kernel *kernel,
			       uint64_t *launches)
{
	*launches = kernel->launches;
	if (!kept || kernel->serial >= kept->next_serial)
		return true;
	for (size_t i = 0; i < kept->kernel_count; i++) {
		if (kept->kernels[i].serial != kernel->serial)
			continue;
		*launches = saturate__difference(kernel->launches, kept->kernels[i].launches);
		return true;
	}
	return false;
}

/* --- keeping --- */

static void keep_kernels(struct monitor_kept *kept, const struct process *process)
{
	kept->kernel_count = 0;
	kept->next_serial = 0;
	for (size_t i = 0; i < process->kernel_count; i++) {
		const struct kernel *kernel = &process->kernels[i];

		if (kernel->serial >= kept->next_serial)
			kept->next_serial = kernel->serial + 1;
		if (i >= MONITOR_KERNELS)
			continue;
		kept->kernels[i].serial = kernel->serial;
		kept->kernels[i].launches = kernel->launches;
		kept->kernel_count++;
	}
}

int monitor_history__keep(struct monitor_history *history, const struct model *model)
{
	struct monitor_kept *kept;

	history->reports++;
	history->since_ns = model->now_ns;
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		struct key key = key_of(process);

		if (process->ended)
			continue;
		kept = TABLE_TAKE(history->kept, key, &key);
		if (!kept)
			return -ENOMEM;
		count(model, process, &kept->counts);
		keep_kernels(kept, process);
		kept->report = history->reports;
	}
	TABLE_DROP(history->kept, gone, gone->report != history->reports, free);
	return 0;
}
