/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes why gpuprobe cannot watch a process or a file that it maps, and what to do about it. */
#ifndef PROBE_ATTACH_FAILURE_H
#define PROBE_ATTACH_FAILURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct attach_failure {
	struct error text; /* a line that names the process; empty if it can be watched */
	bool whole;	   /* therefore none of its files has probes */
	bool of_file;	   /* the cause is one CUDA file, not the process */
};

/*
 * The text that follows a file's path, " cannot be read: Operation not permitted", and what to do.
 */
struct file_attach_failure {
	char what[160];
	const char *advice; /* NULL: use attach_failure__advice */
};

/* For a file that could not be opened: `code` is the errno, `deleted` as in struct mapping. */
struct file_attach_failure file_attach_failure__of(int code, bool deleted);

/*
 * What to do about missing permission, given the capabilities in `effective` (struct capabilities):
 * names those of CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH that are missing; only the former if
 * `files` is false.
 */
const char *attach_failure__advice(uint64_t effective, bool files);

/* For a process whose mappings cannot be read. Returns `code`. */
int attach_failure__of_process(pid_t pid, int code, struct attach_failure *attach_failure);

/*
 * For a process with more mappings than are read (`code` -EFBIG) or more files named like CUDA's
 * than are looked at (-E2BIG). Keeps an existing failure.
 */
void attach_failure__of_limit(pid_t pid, int code, struct attach_failure *attach_failure);

/*
 * For a file that is skipped because its user's programs exceed their share (probe/file_shares.h).
 */
void attach_failure__of_crowd(pid_t pid, const char *path, struct attach_failure *attach_failure);

/* For a file that the process maps at `path`. Returns `code`. */
int attach_failure__of_file(pid_t pid, const char *path, bool deleted, int code,
			    struct attach_failure *attach_failure);

#endif
