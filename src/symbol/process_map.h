/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of one process: which file lies where. The files are
 * opened as they are seen, so that they are there for symbols when the process
 * has ended.
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
	uint64_t begin;		/* where the whole object begins in memory */
	uint64_t inode, device; /* as maps shows them */
	bool deleted;
	bool is_vdso;
	char *path;	     /* in the process's root, or "[vdso]", "[uprobes]" */
	const char *name;    /* the end of it */
	struct file_key key; /* all zero: not opened */
};

/* Of a process that `pid` is. NULL without memory. */
struct process_map *process_map__new(pid_t pid);
void process_map__free(struct process_map *map);

/* What is known takes so much memory. */
size_t process_map__bytes(const struct process_map *map);

/*
 * Reads the mappings anew; of what was there before up to 256 mappings stay known. With a cache, files are
 * opened into it, at most a thousand that are new. At most 16384 mappings are
 * kept, and 2 MiB of paths; what comes after is not known, as where there is more than proc_maps__each reads. Returns 0 or a negative errno; -ESRCH: the process is gone, and what was
 * known of it stays.
 */
int process_map__read(struct process_map *map, struct symbol_cache *cache);

/* Returns 0 to go on; anything else ends the iteration, which returns it. */
typedef int (*code_range_fn)(uint64_t start, uint64_t end, void *arg);

/* Where there may be code, by rising address: executable mappings of no file, too, which have no object. */
int process_map__each_code(const struct process_map *map, code_range_fn fn, void *arg);

/*
 * The mapping that an address lies in, or lay in before it was unmapped, if nothing
 * executable has been mapped there since; else NULL. Valid until they are read again.
 */
const struct mapped_object *process_map__find(const struct process_map *map, uint64_t address);

/* The same, only what is mapped as of the last reading. */
const struct mapped_object *process_map__find_mapped(const struct process_map *map, uint64_t address);

/* Whether a call can return to there: what lies before it is executable, of a file or not, or was as above. */
bool process_map__may_return(const struct process_map *map, uint64_t address);

/*
 * *end: where the last executable mapping of the object ends. False where others
 * lie between `start` and there.
 */
bool process_map__extent(const struct process_map *map, const struct mapped_object *object, uint64_t start,
			 uint64_t *end);

/* The object's file: from the cache, or opened again if the process is still there. NULL if neither. */
struct symbol_file *process_map__file(const struct process_map *map, const struct mapped_object *object,
				      struct symbol_cache *cache);

#endif
