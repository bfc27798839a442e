/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of one process: which file is where. Files are opened when they are first
 * seen, so that their symbols are available after the process has ended.
 */
#ifndef SYMBOL_PROCESS_MAP_H
#define SYMBOL_PROCESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbol/symbol_cache.h"

struct process_map;

/* An executable mapping. */
struct mapped_object {
	uint64_t start, end;
	uint64_t file_offset;	/* of `start` */
	uint64_t begin;		/* address at which the whole object begins */
	uint64_t inode, device; /* as maps shows them */
	bool deleted;
	bool is_vdso;
	char *path;	     /* in the process's root, or "[vdso]", "[uprobes]" */
	const char *name;    /* the last part of it */
	struct file_key key; /* all zero if not opened */
};

/* A map for process `pid`. Returns NULL if out of memory. */
struct process_map *process_map__new(pid_t pid);
void process_map__free(struct process_map *map);

/* Its memory in bytes. */
size_t process_map__bytes(const struct process_map *map);

/*
 * Reads the mappings again; up to 256 of the previous ones stay known. With a cache, opens files
 * into it, at most a thousand new ones. Keeps at most 16384 mappings and 2 MiB of paths, and no
 * more than proc_maps__each reads; further ones stay unknown. Returns 0 or a negative errno;
 * -ESRCH: the process is gone, and the previous data stays.
 */
int process_map__read(struct process_map *map, struct symbol_cache *cache);

/* Returns 0 to go on; any other value ends the iteration, which returns it. */
typedef int (*code_range_fn)(uint64_t start, uint64_t end, void *arg);

/*
 * Iterates over possible code by ascending address. This includes executable mappings without a
 * file, which have no object.
 */
int process_map__each_code(const struct process_map *map, code_range_fn fn, void *arg);

/*
 * The mapping that contains an address, or contained it before it was unmapped, unless other
 * executable memory has been mapped there since; otherwise NULL. Valid until the mappings are read
 * again.
 */
const struct mapped_object *process_map__find(const struct process_map *map, uint64_t address);

/* The same, restricted to current mappings as of the last reading. */
const struct mapped_object *process_map__find_mapped(const struct process_map *map,
						     uint64_t address);

/*
 * Whether a call can return to `address`: the byte before it is executable, in a file or not, or
 * was as above.
 */
bool process_map__may_return(const struct process_map *map, uint64_t address);

/*
 * Sets *end to the end of the object's last executable mapping. Returns false if other mappings are
 * between `start` and there.
 */
bool process_map__extent(const struct process_map *map, const struct mapped_object *object,
			 uint64_t start, uint64_t *end);

/*
 * The object's file: from the cache, or opened again if the process still exists. NULL if neither
 * works.
 */
struct symbol_file *process_map__file(const struct process_map *map,
				      const struct mapped_object *object,
				      struct symbol_cache *cache);

#endif
