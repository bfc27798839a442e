/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpuprobe nccl --join A.json B.json ...`: what several nodes have seen, together. */
#ifndef CLI_JOIN_NODES_H
#define CLI_JOIN_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"

#define JOIN_NODES_MAX 64

struct join_nodes_options {
	const char **paths; /* of files that gpuprobe nccl --json wrote */
	size_t path_count;
	uint64_t hang_ns; /* how long ranks must have waited for one that is behind */
	bool json;
	const char *output; /* a file; NULL: standard output */
};

/*
 * Opens the files with the permissions of gpuprobe's caller, gives up all privileges, and prints.
 * Warns of each file that cannot be read or is no such report, and leaves it out. Returns 0;
 * -EINVAL with a message if no file is left, there are too many, or one was left out after
 * the others were printed; or another negative errno with a message.
 */
int join_nodes__run(const struct join_nodes_options *options, const struct log *log,
		    struct error *err);

#endif
