/* SPDX-License-Identifier: BSD-2-Clause */
/* What keeps gpuprobe from watching a process or a file that it maps, in words, and what to do about it. */
#ifndef PROBE_ATTACH_FAILURE_H
#define PROBE_ATTACH_FAILURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct attach_failure {
	struct error text; /* a line that names the process; empty: nothing keeps gpuprobe from watching it */
	bool whole;	   /* nothing that it maps has probes for that */
	bool of_file;	   /* it is one file of CUDA's that keeps gpuprobe from it, not the process */
};

/* What is said of a file after its path, " cannot be read: Operation not permitted", and what to do. */
struct file_attach_failure {
	char what[160];
	const char *advice; /* NULL: see attach_failure__advice */
};

/* Of a file that could not be opened: `code` is the errno, `deleted` as in struct mapping. */
struct file_attach_failure file_attach_failure__of(int code, bool deleted);

/*
 * What to do where a right is lacking, by the capabilities in `effective` (struct capabilities): those of
 * CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH that it lacks are named, where `files` is false the former alone.
 */
const char *attach_failure__advice(uint64_t effective, bool files);

/* Of a process whose mappings cannot be read. Returns `code`. */
int attach_failure__of_process(pid_t pid, int code, struct attach_failure *attach_failure);

/* Of a process whose mappings are more than are read (-EFBIG of proc_maps__each). Another hindrance stays. */
void attach_failure__of_cut(pid_t pid, struct attach_failure *attach_failure);

/* Of a file that is left out since its user's programs have more than their share (probe/file_shares.h). */
void attach_failure__of_crowd(pid_t pid, const char *path, struct attach_failure *attach_failure);

/* Of a file that process maps at `path`. Returns `code`. */
int attach_failure__of_file(pid_t pid, const char *path, bool deleted, int code, struct attach_failure *attach_failure);

#endif
