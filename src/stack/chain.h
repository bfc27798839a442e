/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts a record to the addresses of its stack: by frame pointers, or by unwinding the copy. */
#ifndef STACK_CHAIN_H
#define STACK_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "stack/process.h"

#define CHAIN_MAX 1024

/* Callers of the CUDA function, innermost first. */
struct call_chain {
	uint64_t address[CHAIN_MAX];
	/*
	 * Bit set: a signal handler returns to this address, which is therefore no call's return
	 * address.
	 */
	uint64_t interrupted[CHAIN_MAX / 64];
	uint32_t count;
	bool truncated, broken; /* as in struct stack */
	bool whole;		/* pointers lead to the stack's beginning or the kernel's limit */
	bool unwound;		/* from the copy */
};

/* `process` is the record's, or NULL. Returns 0 or -ENOMEM. */
int call_chain__make(struct call_chain *chain, enum stack_mode mode,
		     struct stack_processes *processes, struct stack_process *process,
		     const struct stack_record *record, uint64_t now);

static inline bool call_chain__is_interrupted(const struct call_chain *chain, uint32_t i)
{
	return chain->interrupted[i / 64] >> i % 64 & 1;
}

#endif
