/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NCCL's own number of a communicator, commHash: the hash in RAS and NVTX, and from 2.26 on "commId
 * 0x..." in its log, where older versions print another function of the unique id. All ranks
 * compute the same from what they pass, so ranks of one communicator find each other by it. NCCL
 * changed the function in version 2.26.
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
 * The number of a communicator split off. `number` counts the parent's splits and grows, from 1;
 * older versions do not use it, so that two splits of one colour have the same number there.
 */
uint64_t nccl_hash__split(enum nccl_hashing hashing, uint64_t parent, int32_t number,
			  int32_t color);

/* After ncclCommShrink (2.27), which does not count: two shrinks have the same number. */
uint64_t nccl_hash__shrink(uint64_t parent);

/*
 * After ncclCommGrow (2.29), from the communicator's magic, another number that NCCL keeps: of an
 * id it is the first 8 bytes, of a communicator split off or shrunk its commHash, and of a grown
 * one that of the id which new ranks pass. `number` counts the parent's splits and grows.
 */
uint64_t nccl_hash__magic(const uint8_t id[NCCL_ID_SIZE]);
uint64_t nccl_hash__grown_magic(uint64_t parent_magic, int32_t number);
uint64_t nccl_hash__grow(uint64_t grown_magic, int32_t size);

#endif
