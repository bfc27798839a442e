/* SPDX-License-Identifier: BSD-2-Clause */
/* What several nodes have seen of a job together, as text and as JSON (gpuprobe nccl --join). */
#ifndef OUTPUT_NCCL_JOIN_H
#define OUTPUT_NCCL_JOIN_H

#include <stdio.h>

#include "nccl/node_file.h"

#define NCCL_JOIN_JSON_SCHEMA "gpuprobe.nccl-join/1"

struct nccl_join_report {
	const struct node_file *files; /* a node each; the first one's clock is the common one */
	const struct nccl_offset *offsets;
	size_t file_count;
	const struct nccl_joined *comms;
	size_t comm_count;
};

/* Errors are those of the stream. */
void nccl_join_text__print(FILE *out, const struct nccl_join_report *report);
/* One object, on one line. */
void nccl_join_json__print(FILE *out, const struct nccl_join_report *report);

#endif
