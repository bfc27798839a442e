/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other processes that a verdict (finding/verdict.h) depends on. Processes that use the same
 * GPU may keep it busy while this process gives it no work. This process may also wait for others:
 * for a rank that is late to collective operations, or for a process that hands it its work. A
 * server that waits for requests has no work.
 *
 * Ranks of one job are recognized by NCCL's kernels: each rank launches one per collective
 * operation, so all launch about as many. If a process waits for its GPU while another rank does
 * not, the kernels that wait for that rank delay it.
 */
#ifndef FINDING_COMPANY_H
#define FINDING_COMPANY_H

#include "finding/verdict.h"

/* Provides the judged time of processes; within one judgement, all use the same kind of time. */
struct company_times {
	const struct model *model;
	/* Sets the load of the judged time and its start; false: unknown. */
	bool (*find)(const struct company_times *times, const struct process *process,
		     struct load *window, uint64_t *from_ns);
	/* The verdict of a process from its own load, as if it were alone. */
	void (*judge)(const struct company_times *times, const struct process *process,
		      struct verdict *verdict);
	const void *arg; /* data for `find` */
};

/*
 * The processes that share the GPU, for a verdict made as if the process were alone: sets `beside`,
 * and `idle` for all of them together.
 */
void company__find_sharing(const struct company_times *times, const struct process *process,
			   struct verdict *verdict);

/*
 * The processes that this one waits for: may set `kind`, `awaited`, `collectives` and `requests`.
 */
void company__find_awaited(const struct company_times *times, const struct process *process,
			   struct verdict *verdict);

#endif
