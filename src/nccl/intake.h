/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Feeds the judge with traced calls: lines of the tracer (trace/line.h, --entry-return) become
 * events. It knows what an event needs and a line alone does not say: whether the thread captures a
 * graph, which streams have collectives, and addresses that NCCL writes after the call.
 *
 * Bounded: so many processes, and so many captures and unknown addresses of each. What does not fit
 * is counted.
 */
#ifndef NCCL_INTAKE_H
#define NCCL_INTAKE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nccl/comm_memory.h"
#include "nccl/jobs.h"
#include "trace/line.h"

#define NCCL_INTAKE_PROCESSES 4096

struct nccl_intake;

struct nccl_intake_hooks {
	/* Reads exactly `size` bytes of a process's memory. Returns 0 or a negative errno. */
	int (*read)(pid_t pid, uint64_t address, void *buffer, size_t size, void *arg);
	/* Which hash function the NCCL of the process has. Optional. */
	enum nccl_hashing (*hashing)(pid_t pid, void *arg);
	/* What the process itself knows of a communicator, as comm_memory__look. Optional. */
	int (*look)(pid_t pid, uint64_t handle, struct comm_facts *facts, void *arg);
	void *arg;
};

/* `jobs` must outlive it. NULL without memory. */
struct nccl_intake *nccl_intake__new(struct nccl_jobs *jobs, const struct nccl_intake_hooks *hooks);
void nccl_intake__free(struct nccl_intake *intake); /* NULL ok */

/* Takes a line, in the order of the times. Lines of other functions are ignored. */
void nccl_intake__line(struct nccl_intake *intake, const struct trace_line *line);

/* Looks for addresses that NCCL had not written yet. Call it several times a second. */
void nccl_intake__look(struct nccl_intake *intake, uint64_t now_ns);

/* The process has ended, for the jobs, too. */
void nccl_intake__process_ended(struct nccl_intake *intake, const struct nccl_process_key *key);

/* The thread that made the latest collective or message of the process; 0: none is known. */
pid_t nccl_intake__thread(const struct nccl_intake *intake, const struct nccl_process_key *key);

/* Calls that were left out because their process or what they refer to did not fit. */
uint64_t nccl_intake__left_out(const struct nccl_intake *intake);

#endif
