/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVTX ranges of processes (--nvtx), by name: what threads did in them. All of it comes from a
 * library in the watched program, which may say anything: names are bounded for a process and for
 * all.
 */
#ifndef MODEL_NVTX_RANGES_H
#define MODEL_NVTX_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"
#include "gpuprobe/nvtx.h"

/* The name behind a number in a process. */
struct nvtx_known_name {
	struct nvtx_key key;
	char *text; /* raw */
	UT_hash_handle hh;
};

struct nvtx_range {
	struct nvtx_key key;
	const char *name; /* raw; NULL: unknown, or all beyond the limit if the number is 0 */
	struct nvtx_record record;
};

/* Initially all zero. */
struct nvtx_ranges {
	struct nvtx_known_name *names; /* a table */
	size_t name_count;
	struct nvtx_range *list; /* of the latest reading */
	size_t count;
	uint64_t lost_ranges, lost_names;     /* for which there was no room here */
	uint64_t unread_ranges, unread_names; /* what BPF could not keep */
};

void nvtx_ranges__clear(struct nvtx_ranges *ranges);

/* Adds a name of BPF's ring, `size` bytes of any content. */
void nvtx_ranges__take_name(struct nvtx_ranges *ranges, const void *record, size_t size);

/*
 * A new reading: empties the list, adds to it, and at the end gives names to its ranges and sorts
 * them by time, longest first.
 */
void nvtx_ranges__begin(struct nvtx_ranges *ranges);
void nvtx_ranges__add(struct nvtx_ranges *ranges, const struct nvtx_key *key,
		      const struct nvtx_record *record);
void nvtx_ranges__end(struct nvtx_ranges *ranges);

/* Whether the range is of this process. */
bool nvtx_range__is_of(const struct nvtx_range *range, pid_t pid, uint64_t start_ns);

#endif
