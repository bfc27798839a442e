/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contexts of all processes, as one reading found them. Whatever dies with a context stays in
 * the BPF maps until userspace deletes it.
 */
#ifndef COLLECT_CONTEXTS_H
#define COLLECT_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/state.h"

struct contexts;

struct contexts *contexts__new(void);
void contexts__free(struct contexts *contexts);

/* Drops all contexts, before a reading. */
void contexts__clear(struct contexts *contexts);

/* Adds a copy of a context. Returns 0 or -ENOMEM. */
int contexts__add(struct contexts *contexts, const struct context_key *key,
		  const struct context_record *record);

/* The record, or NULL if the context is unknown. Valid until contexts__clear. */
const struct context_record *contexts__find(const struct contexts *contexts, uint32_t slot,
					    uint64_t context);

/*
 * Whether something created in the context at `start_ns` has died with it. False for context 0,
 * which means none.
 */
bool contexts__took(const struct contexts *contexts, uint32_t slot, uint64_t context,
		    uint64_t start_ns);

/*
 * Whether the context's latest end is certain: the call that ended it has returned. True if the
 * context is unknown.
 */
bool contexts__is_settled(const struct contexts *contexts, uint32_t slot, uint64_t context);

#endif
