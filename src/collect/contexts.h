/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contexts of all processes, as one reading found them: what died with a
 * context stays in the BPF maps until userspace clears it away.
 */
#ifndef COLLECT_CONTEXTS_H
#define COLLECT_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/state.h"

struct contexts;

struct contexts *contexts__new(void);
void contexts__free(struct contexts *contexts);

/* Forgets all, before a reading. */
void contexts__clear(struct contexts *contexts);

/* Takes one over, copied. Returns 0 or -ENOMEM. */
int contexts__add(struct contexts *contexts, const struct context_key *key, const struct context_record *record);

/* The record, or NULL where the context is not known. Valid until contexts__clear. */
const struct context_record *contexts__find(const struct contexts *contexts, uint32_t slot, uint64_t context);

/* Whether what came to be in the context at that time has died with it; context 0 is none. */
bool contexts__took(const struct contexts *contexts, uint32_t slot, uint64_t context, uint64_t start_ns);

/* Whether its last end is certain: the call that ended it has returned. */
bool contexts__is_settled(const struct contexts *contexts, uint32_t slot, uint64_t context);

#endif
