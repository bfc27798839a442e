/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe nccl`. */
#ifndef CLI_NCCL_OPTIONS_H
#define CLI_NCCL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"

struct nccl_options {
	struct targets targets;
	double interval;     /* seconds between reports; 0: only the last one */
	double duration;     /* seconds; 0: until stopped */
	uint64_t hang_ns;    /* a collective that lasts longer hangs */
	uint32_t ring_bytes; /* a power of two, in whole pages */
	bool json;
	bool ras; /* ask NCCL's own service */
	bool join;
	const char **paths; /* with `join`: of the files; the texts belong to argv */
	size_t path_count;
	const char *metrics_address; /* ADDRESS:PORT; NULL: none */
	const char *file;	     /* output file; NULL: standard output */
	enum log_level log_level;
};

extern const struct option_table nccl_option_table;

/*
 * Parses the command line; argv[0] is "nccl". Returns an enum option_result, or a negative errno
 * with a message in `err` (exit status 2). The caller always calls nccl_options__clear.
 */
int nccl_options__parse(struct nccl_options *options, int argc, char **argv, struct error *err);
void nccl_options__clear(struct nccl_options *options);

#endif
