/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run that was recorded on an H100: the driver's calls of a process, as gpuprobe saw them, and when the GPU was busy, as CUPTI
 * saw it. pack_run.py has made the files in runs/ and tells their form.
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
	struct recorded_call *calls; /* by their entries; those of a thread follow each other */
	struct busy_time *busy;	     /* apart, in their order */
	size_t call_count, busy_count;
	uint64_t context; /* that the calls name; 0: they name none */
};

/* Reads tests/unit/bpf/runs/NAME.gz, from the root of the sources. The run is the caller's to free; a test fails where the file is bad. */
struct recorded_run *recorded_run__read(const char *name);
void recorded_run__free(struct recorded_run *run);

/* Has `watched` make the calls, its threads' in the order of their times. */
void recorded_run__replay(const struct recorded_run *run, struct watched *watched);

#endif
