/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other processes that a verdict (finding/verdict.h) depends on: those that use the same GPU, which may be busy with their
 * work where this process gives it none, and those that this one waits for: the rank that comes late to collective operations,
 * or a process that hands it its work. A server that waits for requests has no work.
 *
 * Ranks of one job are told by NCCL's kernels: each rank launches one for each collective operation, so that all launch about as many.
 * A process that waits for its GPU while another rank does not is held up by the kernels that wait for that rank.
 */
#ifndef FINDING_COMPANY_H
#define FINDING_COMPANY_H

#include "finding/verdict.h"

/* The judged time of processes: of one judgement all are of the same kind. */
struct company_times {
	const struct model *model;
	/* Sets the load of the time and when it began; false: it is not known. */
	bool (*find)(const struct company_times *times, const struct process *process, struct load *window, uint64_t *from_ns);
	/* The verdict of a process by its own time, as if it were alone. */
	void (*judge)(const struct company_times *times, const struct process *process, struct verdict *verdict);
	const void *arg; /* what find needs */
};

/* Whom the process shares its GPU with, of a verdict as if it were alone: sets `beside`, and `idle` for all of them. */
void company__find_sharing(const struct company_times *times, const struct process *process, struct verdict *verdict);

/* Whom it waits for: may set `kind`, `awaited`, `collectives` and `requests`. */
void company__find_awaited(const struct company_times *times, const struct process *process, struct verdict *verdict);

#endif
