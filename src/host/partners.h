/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The partners of followed threads, from the BPF maps: who wakes them, who takes their CPU, what
 * they read.
 */
#ifndef HOST_PARTNERS_H
#define HOST_PARTNERS_H

#include <stddef.h>

#include "gpuprobe/host.h"

struct host_bpf;

/* The latest reading: a key and its value have the same index. */
struct partners {
	struct host_pair_key waker_keys[HOST_WAKERS];
	struct host_waker wakers[HOST_WAKERS];
	size_t waker_count;
	struct host_pair_key rival_keys[HOST_RIVALS];
	struct host_rival rivals[HOST_RIVALS];
	size_t rival_count;
	struct host_pair_key file_keys[HOST_FILES];
	struct host_file files[HOST_FILES];
	size_t file_count;
};

/* Reads the maps again; a map that cannot be read gives an empty list. */
void partners__read(struct partners *partners, const struct host_bpf *skeleton);

#endif
