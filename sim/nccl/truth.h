/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The truth of the simulated libnccl: CUDA_SIM_NCCL_TRUTH=FILE, in which %p stands for the process
 * id, gets a line for each begin and end of a call, as it happens, so that a rank that is killed
 * has its lines, too:
 *
 *	NS PID TID b|e FUNCTION COMM HASH RANK SIZE COUNT TYPE OP ROOT CAPTURED RESULT
 *
 * NS is CLOCK_BOOTTIME; COMM and HASH are hexadecimal. A creation's begin has hash, rank and size;
 * its end has the new address as COMM. A split has colour and key as RANK and SIZE at its begin.
 */
#ifndef SIM_NCCL_TRUTH_H
#define SIM_NCCL_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

struct truth {
	const char *function; /* "AllReduce" */
	const void *comm;
	uint64_t hash;
	int rank, size;
	uint64_t count;
	int type, op, root;
	bool captured;
};

void truth__begin(const struct truth *call);
void truth__end(const struct truth *call, int result);

#endif
