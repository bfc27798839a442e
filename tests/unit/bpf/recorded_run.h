/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run recorded on an H100: the driver's calls of a process, as gpuprobe saw them, and when the
 * GPU was busy, as CUPTI saw it. pack_run.py made the files in runs/ and describes their format.
 */
#ifndef TESTS_BPF_RECORDED_RUN_H
#define TESTS_BPF_RECORDED_RUN_H

#include "watched.h"

struct recorded_call {
	struct watched_call call;
	int tid;
	int32_t result;
	uint64_t entry_ns, return_ns;
};

struct busy_time {
	uint64_t begin_ns, end_ns;
};

struct recorded_run {
	struct recorded_call *calls; /* ordered by entry; those of one thread do not overlap */
	struct busy_time *busy;	     /* disjoint, in order */
	size_t call_count, busy_count;
	uint64_t context; /* the context that the calls name; 0: none */
};

/*
 * Reads tests/unit/bpf/runs/NAME.gz, from the root of the sources. The caller frees the run. A bad
 * file fails the test.
 */
struct recorded_run *recorded_run__read(const char *name);
void recorded_run__free(struct recorded_run *run);

/* Makes the calls in `watched`, those of all threads in the order of their times. */
void recorded_run__replay(const struct recorded_run *run, struct watched *watched);

#endif
