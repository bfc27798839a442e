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
#include "model/gpu_times.h"

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
	/* GPU work of calls in it; unknown if the record has times that are `uncalled` */
	struct gpu_parts gpu;
};

/* Initially all zero. */
struct nvtx_ranges {
	struct nvtx_known_name *names; /* a table */
	size_t name_count;
	struct nvtx_range *list; /* of the latest reading */
	size_t count;
	bool is_sorted;			      /* by key */
	const struct gpu_times *gpu_times;    /* of that reading; NULL: there are none */
	uint64_t lost_ranges, lost_names;     /* for which there was no room here */
	uint64_t unread_ranges, unread_names; /* what BPF could not keep */
};

void nvtx_ranges__clear(struct nvtx_ranges *ranges);

/* Adds a name of BPF's ring, `size` bytes of any content. */
void nvtx_ranges__take_name(struct nvtx_ranges *ranges, const void *record, size_t size);

/*
 * A new reading: empties the list, and adds first all ranges, then all paths, whose work counts
 * once in each of their names. At the end gives names to the ranges, leaves out those that have
 * nothing, and sorts them by time, longest first. `times`, NULL ok, must be valid as long as the
 * list is used.
 */
void nvtx_ranges__begin(struct nvtx_ranges *ranges, const struct gpu_times *times);
void nvtx_ranges__add(struct nvtx_ranges *ranges, const struct nvtx_key *key,
		      const struct nvtx_record *record);
void nvtx_ranges__add_path(struct nvtx_ranges *ranges, const struct nvtx_path_key *key,
			   const struct nvtx_path *path);
void nvtx_ranges__end(struct nvtx_ranges *ranges);

/* GPU work of a process that is in no row. */
struct nvtx_apart {
	struct gpu_parts outside;   /* in no range */
	struct gpu_parts unknown;   /* in ranges that are not known */
	struct gpu_parts in_ranges; /* in at least one: in rows */
	uint64_t uncalled;	    /* pieces of work whose call is not known */
};

/*
 * Fills in *apart; false: there are no exact GPU times by range, because they were not asked for, a
 * sample was, or none came from the process.
 */
bool nvtx_ranges__apart(const struct nvtx_ranges *ranges, pid_t pid, uint64_t start_ns,
			struct nvtx_apart *apart);

/* Whether the range is of this process. */
bool nvtx_range__is_of(const struct nvtx_range *range, pid_t pid, uint64_t start_ns);

#endif
