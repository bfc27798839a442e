/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which communicators of a process were looked at in its memory. A look costs some milliseconds,
 * and a hostile process can pass a new address with each call: so each address is looked at once,
 * and a process has so many looks.
 */
#ifndef NCCL_LATE_H
#define NCCL_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NCCL_LATE_KEPT 32  /* addresses that are remembered */
#define NCCL_LATE_MOST 256 /* looks */

/* Starts as all 0. */
struct nccl_late {
	uint64_t looked[NCCL_LATE_KEPT]; /* the oldest is replaced */
	size_t count;			 /* looks so far */
};

/* Whether to look at this address now. It counts as looked at then. */
bool nccl_late__takes(struct nccl_late *late, uint64_t handle);

/* Another communicator may get this address. */
void nccl_late__forget(struct nccl_late *late, uint64_t handle);

#endif
