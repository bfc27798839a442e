/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report's sums over all its processes, and the choice of these processes; shared by text and
 * JSON.
 */
#ifndef OUTPUT_REPORT_TOTALS_H
#define OUTPUT_REPORT_TOTALS_H

#include "model/model.h"

struct report_totals {
	size_t processes; /* processes that the report shows */
	/*
	 * All kinds of device memory, including frees of unknown addresses. Only memory of running
	 * processes counts as live; ended processes have theirs in live_at_exit.
	 */
	struct memory_totals device;
	struct memory_totals host;
	uint64_t live_at_exit_bytes, live_at_exit_count;
	/* part of `processes`: no sum includes what these allocated before gpuprobe attached */
	size_t since_attach;
	uint64_t launches, captured_launches;
	uint64_t graph_launches, graph_kernels, graph_launches_of_unknown_size;
	bool estimated;	  /* launches of some process are estimated */
	uint64_t kernels; /* a kernel of the same name in two processes counts twice */
};

/* An ended process appears in one more report and then in none. */
bool report__shows(const struct process *process);

/* Sums the process's device memory of every kind, including frees of unknown addresses. */
void report__device_memory(const struct process *process, struct memory_totals *sum);

/* Fills `totals` from the processes that the report shows. */
void report_totals__sum(const struct model *model, struct report_totals *totals);

#endif
