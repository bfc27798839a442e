/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads whole BPF hash maps in batches. A map that changes meanwhile is read bucket by bucket: an
 * entry that exists all the time is seen exactly once.
 */
#ifndef COLLECT_MAP_READER_H
#define COLLECT_MAP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_map;
struct map_reader;

/* A nonzero result stops the reading. */
typedef int (*map_entry_fn)(const void *key, const void *value, void *arg);

/* The reader keeps its buffers between reads. */
struct map_reader *map_reader__new(void);
void map_reader__free(struct map_reader *reader);

/* How far a map has been read. All zero: from its beginning. */
struct map_cursor {
	uint64_t bucket; /* written by the kernel: a bucket number, for any type of key */
	bool started, done;
};

/*
 * Calls `fn` for the next entries, some hundreds. Returns 0, what `fn` returned, or a negative
 * errno.
 */
int map_reader__some(struct map_reader *reader, const struct bpf_map *map,
		     struct map_cursor *cursor, map_entry_fn fn, void *arg);

/* Calls `fn` for each entry. Returns 0, what `fn` returned, or a negative errno. */
int map_reader__each(struct map_reader *reader, const struct bpf_map *map, map_entry_fn fn,
		     void *arg);

#endif
