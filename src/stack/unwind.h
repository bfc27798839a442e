/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwinds copies of stacks by the call frame information (.eh_frame only) of the files that a
 * process has mapped, with libdw. The data on a process's files is kept until its mappings are read
 * again.
 */
#ifndef STACK_UNWIND_H
#define STACK_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/stack.h"
#include "symbol/process_map.h"

struct unwinder; /* for one process */

enum unwind_end {
	UNWIND_WHOLE = 0, /* to the stack's beginning */
	UNWIND_TRUNCATED, /* to the end of the copy */
	UNWIND_FULL,	  /* `max` frames were found */
	UNWIND_BROKEN,	  /* to a frame without usable frame information */
};

/*
 * `map` and `cache` must outlive it. Files come from the cache; nothing else is opened. Returns
 * NULL if out of memory.
 */
struct unwinder *unwinder__new(const struct process_map *map, struct symbol_cache *cache);
void unwinder__free(struct unwinder *unwinder);

/* Call after the process's mappings were read again, before the next unwinding. */
void unwinder__changed(struct unwinder *unwinder);

/*
 * Writes return addresses, innermost first; the first is registers->ip. The address of a frame that
 * a signal interrupted is that of its next instruction; its bit in `interrupted` (max bits, in
 * uint64_t) is set. `record` has a copy of the stack; where the kernel has put its trampoline,
 * record->caller has the original address. Returns the number of addresses, at least 1, or -ENOMEM;
 * *end says why there are no more.
 */
int unwinder__run(struct unwinder *unwinder, const struct stack_record *record, uint64_t *addresses,
		  uint64_t *interrupted, size_t max, enum unwind_end *end);

#endif
