/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NCCL's own number of a communicator, commHash: "commId 0x..." in its log, and the hash in RAS and
 * NVTX. All ranks compute the same from what they pass, so ranks of one communicator find each
 * other by it. NCCL changed the function in version 2.26.
 */
#ifndef NCCL_HASH_H
#define NCCL_HASH_H

#include <stdint.h>

#define NCCL_ID_SIZE 128

enum nccl_hashing {
	NCCL_HASHING_MIXER = 0, /* 2.26 and newer */
	NCCL_HASHING_DJB2,	/* up to 2.25.1 */
};

/* For a version as ncclGetVersion gives it: 22809 is 2.28.9. */
enum nccl_hashing nccl_hashing__of_version(int version);

/* The number of a communicator created with this unique id. */
uint64_t nccl_hash__id(enum nccl_hashing hashing, const uint8_t id[NCCL_ID_SIZE]);

/*
 * The number of a communicator split off. `number` counts the splits of the parent, from 1; older
 * versions do not use it, so that two splits of one colour have the same number there.
 */
uint64_t nccl_hash__split(enum nccl_hashing hashing, uint64_t parent, int32_t number,
			  int32_t color);

#endif
