/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks by their ids. Ids of stacks with the same frames lead to one: the
 * address of a struct stack tells it from all others, as long as it is kept.
 *
 * Bounded by `max` stacks, four times as many ids, and 256 MiB; what was not
 * asked for the longest time leaves.
 */
#ifndef STACK_STORE_H
#define STACK_STORE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack/stack.h"

struct stack_store;

/* Whose stack an id is of: an id that comes again for another process has another stack. */
struct stack_owner {
	uint64_t start_ns;
	pid_t pid;
};

/* Called for each id that leaves. */
typedef void (*stack_forget_fn)(void *arg, uint64_t id);

/* `forget` may be NULL. NULL without memory. */
struct stack_store *stack_store__new(size_t max, stack_forget_fn forget, void *arg);
void stack_store__free(struct stack_store *store); /* forgets nothing */

/*
 * Keeps a stack of stack->count frames under an id, whose stack before leaves
 * unless others lead to it: a copy with its texts; stack->serial is not read.
 * Other stacks may leave. 0 or -ENOMEM.
 */
int stack_store__add(struct stack_store *store, uint64_t id, const struct stack_owner *owner,
		     const struct stack *stack);

/* NULL where it is not known. Counts as asked for. */
const struct stack *stack_store__find(struct stack_store *store, uint64_t id);

/* The id that stands for all that lead to the same stack; the id itself where it is not known. */
uint64_t stack_store__same(const struct stack_store *store, uint64_t id);

/* Whether the id is known, and of this process. Counts as asked for. */
bool stack_store__has(struct stack_store *store, uint64_t id, const struct stack_owner *owner);

size_t stack_store__count(const struct stack_store *store);
uint64_t stack_store__evicted(const struct stack_store *store); /* stacks */

#endif
