/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The captures of a process: which of its calls become part of a CUDA graph. Bounded: of more
 * captures at once, the further ones are not seen.
 */
#ifndef NCCL_CAPTURES_H
#define NCCL_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NCCL_CAPTURES 8

/* A thread that captures what it submits to a stream, and streams that join it. */
struct nccl_capture {
	pid_t tid; /* 0: none */
	uint64_t stream;
};

/* Starts as all 0. */
struct nccl_captures {
	struct nccl_capture items[NCCL_CAPTURES];
};

void nccl_captures__begin(struct nccl_captures *captures, pid_t tid, uint64_t stream);
void nccl_captures__end(struct nccl_captures *captures, uint64_t stream);
bool nccl_captures__has(const struct nccl_captures *captures, pid_t tid, uint64_t stream);

#endif
