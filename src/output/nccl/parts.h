/* SPDX-License-Identifier: BSD-2-Clause */
/* What the text of communicators and that of findings share. */
#ifndef OUTPUT_NCCL_PARTS_H
#define OUTPUT_NCCL_PARTS_H

#include <stdio.h>

#include "nccl/judge.h"

/* `comm 0x9f3ac1 "dp"` */
void nccl_text__comm(FILE *out, const struct nccl_comm *comm);
/* "rank 3 (pid 5120, GPU 3)" */
void nccl_text__rank(FILE *out, const struct nccl_rank *rank);
/* "all_gather bf16 x 8,388,608", with root and reduction where they differ from the usual */
void nccl_text__operation(FILE *out, const struct nccl_operation *operation);

/* What a finding is about: communicator and collective, or message. */
void nccl_text__subject(FILE *out, const struct nccl_finding *finding);
/* Its further lines, indented: which rank, and what that rank does. */
void nccl_text__lines(FILE *out, const struct nccl_finding *finding);

#endif
