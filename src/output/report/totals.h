/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a report says of all its processes together, and which processes it
 * speaks of; the same for text and JSON.
 */
#ifndef OUTPUT_REPORT_TOTALS_H
#define OUTPUT_REPORT_TOTALS_H

#include "model/model.h"

struct report_totals {
	size_t processes; /* those the report shows */
	/*
	 * All kinds on devices, and frees of what is not known. Live are only those of processes that
	 * run; what the ended ones left is live at exit.
	 */
	struct memory_totals device;
	struct memory_totals host;
	uint64_t live_at_exit_bytes, live_at_exit_count;
	size_t since_attach; /* of the processes: what they allocated before is in none of these */
	uint64_t launches, captured_launches;
	uint64_t graph_launches, graph_kernels, graph_launches_of_unknown_size;
	bool estimated;	  /* launches of some process are */
	uint64_t kernels; /* one of the same name in two processes counts twice */
};

/* A process that ended is in one report more and then in none. */
bool report__shows(const struct process *process);

/* The process's memory of every kind on devices added up, frees of unknown addresses included. */
void report__device_memory(const struct process *process, struct memory_totals *sum);

/* Fills `totals` from the processes that the report shows. */
void report_totals__sum(const struct model *model, struct report_totals *totals);

#endif
