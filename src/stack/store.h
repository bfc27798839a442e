/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks by their ids. Ids of stacks with the same frames lead to one struct stack, whose address
 * identifies it as long as it is kept.
 *
 * Bounded by `max` stacks, four times as many ids, and 256 MiB; the least recently used one is
 * dropped.
 */
#ifndef STACK_STORE_H
#define STACK_STORE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack/stack.h"

struct stack_store;

/* The process of an id's stack: the same id of another process means another stack. */
struct stack_owner {
	uint64_t start_ns;
	pid_t pid;
};

/* Called for each id that is dropped. */
typedef void (*stack_forget_fn)(void *arg, uint64_t id);

/* `forget` may be NULL. Returns NULL if out of memory. */
struct stack_store *stack_store__new(size_t max, stack_forget_fn forget, void *arg);
void stack_store__free(struct stack_store *store); /* does not call `forget` */

/*
 * Stores a copy of the stack, with stack->count frames and their texts, under an id; stack->serial
 * is not read. The id's previous stack is dropped unless other ids lead to it. Other stacks may be
 * dropped. Returns 0 or -ENOMEM.
 */
int stack_store__add(struct stack_store *store, uint64_t id, const struct stack_owner *owner,
		     const struct stack *stack);

/* Returns NULL if the id is unknown. Counts as a use. */
const struct stack *stack_store__find(struct stack_store *store, uint64_t id);

/* The id that represents all ids of the same stack; the id itself if it is unknown. */
uint64_t stack_store__same(const struct stack_store *store, uint64_t id);

/* Whether the id is known and belongs to this process. Counts as a use. */
bool stack_store__has(struct stack_store *store, uint64_t id, const struct stack_owner *owner);

size_t stack_store__count(const struct stack_store *store);
uint64_t stack_store__evicted(const struct stack_store *store); /* stacks */

#endif
