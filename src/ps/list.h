/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the processes that use CUDA (model/ps.h): those that map one of its libraries, those that
 * NVML lists, and the daemons of MPS. Looks once at /proc, at NVML, and at the threads.
 */
#ifndef PS_LIST_H
#define PS_LIST_H

#include "collect/attribution.h"
#include "dump/dump.h"
#include "model/ps.h"
#include "target/memory_reader.h"
#include "target/process_filter.h"

struct ps_request {
	/* these, whatever they map, and those of their descendants that use CUDA */
	const pid_t *pids;
	size_t pid_count;		     /* 0: the whole machine */
	const struct process_filter *filter; /* opened */
	struct memory_reader *memory;
	struct attribution *attribution;
	struct dumper *dumper; /* NULL: states of threads stay unknown */
	bool unprivileged;     /* gpuprobe lacks permissions, which a note is to say */
};

/*
 * Fills *out, sorted by memory. Waits for NVML at most 2 s, and 0.2 s for processes that seem to be
 * stuck. Returns 0, or a negative errno with the reason in `err`.
 */
int ps_list__take(const struct ps_request *request, struct ps **out, struct error *err);

/*
 * Only finds those that map CUDA's libraries or are the request's `pids`, with users and command
 * lines. Waits for nothing; `memory` and `dumper` of the request are not used. Returns 0, or a
 * negative errno with the reason in `err`.
 */
int ps_list__find(const struct ps_request *request, struct ps **out, struct error *err);

/*
 * Adds the processes that only NVML lists, except those that `watched` has. Returns 0 or -ENOMEM.
 */
int ps_list__add_used(const struct ps_request *request, const struct gpu_snapshot *snapshot,
		      const struct model *watched, struct ps *ps);

#endif
