/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwinds copies of stacks by the call frame information of the files that a
 * process has mapped (.eh_frame alone), with libdw. What is known of a
 * process's files is kept until its mappings are read anew.
 */
#ifndef STACK_UNWIND_H
#define STACK_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/stack.h"
#include "symbol/process_map.h"

struct unwinder; /* of one process */

enum unwind_end {
	UNWIND_WHOLE = 0, /* to the stack's beginning */
	UNWIND_TRUNCATED, /* to the end of the copy */
	UNWIND_FULL,	  /* `max` frames */
	UNWIND_BROKEN,	  /* to where no frame information tells on */
};

/*
 * `map` and `cache` must outlive it; files come from the cache, nothing else is
 * opened. NULL without memory.
 */
struct unwinder *unwinder__new(const struct process_map *map, struct symbol_cache *cache);
void unwinder__free(struct unwinder *unwinder);

/* The process's mappings were read anew: to be called before the next unwinding. */
void unwinder__changed(struct unwinder *unwinder);

/*
 * Writes return addresses, the innermost first: registers->ip is the first. Of
 * a frame that a signal interrupted the address is one of an instruction that
 * was to be executed: its bit in `interrupted` (max bits, in uint64_t) is set.
 * `record` has a copy of the stack; where the kernel has put its trampoline,
 * record->caller tells what was there. Returns how many, at least 1, or -ENOMEM;
 * *end tells why not more.
 */
int unwinder__run(struct unwinder *unwinder, const struct stack_record *record, uint64_t *addresses,
		  uint64_t *interrupted, size_t max, enum unwind_end *end);

#endif
