/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one node has seen, from the JSON of `gpuprobe nccl --json`, for joining (nccl/join.h). The
 * file may be damaged or hostile: its numbers are checked, and the rest is left out and counted.
 */
#ifndef NCCL_NODE_FILE_H
#define NCCL_NODE_FILE_H

#include "base/error.h"
#include "base/json_reader.h"
#include "nccl/join.h"

/* Further ones in a file are left out; ranks and collectives of all its communicators. */
#define NODE_COMMS_MAX 4096
#define NODE_RANKS_MAX 65536
#define NODE_ARRIVALS_MAX 262144

struct node_file {
	struct nccl_node node; /* its texts are the document's, or `path` */
	struct nccl_node_comm *comms;
	struct nccl_node_rank *ranks;
	struct nccl_arrival *arrivals;
	size_t rank_count, arrival_count;
	size_t unknown;	 /* communicators of unknown hash, and ranks of unknown number */
	size_t left_out; /* entries that are impossible, twice there, or too many */
};

/*
 * Reads a report. `json` and `path` must outlive the result. Returns 0, -EINVAL with a message if
 * it is no report of gpuprobe nccl, or -ENOMEM. Release with node_file__clear in any case.
 */
int node_file__read(struct node_file *file, const struct json_value *json, const char *path,
		    struct error *err);
void node_file__clear(struct node_file *file);

#endif
