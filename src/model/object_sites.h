/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live objects other than memory (streams, events, modules, graphs, ...) of one process, by kind
 * and by the call site that created them. Without stacks there is one site for each kind.
 */
#ifndef MODEL_OBJECT_SITES_H
#define MODEL_OBJECT_SITES_H

#include "model/model.h"
#include "model/sites.h"

struct object_table;

struct object_site {
	const struct stack *stack; /* NULL: unknown */
	uint8_t kind;		   /* enum object_kind */
	uint64_t live;
	/* calls that created them; less than `live`, or 0: unknown */
	uint64_t made;
	uint64_t oldest_ns, newest_ns; /* CLOCK_BOOTTIME of the creating calls */
};

/* NULL without memory. */
struct object_table *object_table__new(void);
void object_table__free(struct object_table *table);

/* Approximate size in memory; 0 for NULL. */
size_t object_table__bytes(const struct object_table *table);

/* A reading begins: objects are added anew. */
void object_table__begin(struct object_table *table);

/* Adds a live object; `stack` is an id, 0 if unknown. Returns 0 or -ENOMEM. */
int object_table__add(struct object_table *table, uint8_t kind, uint64_t stack, uint64_t start_ns);

/*
 * Rewrites process->object_sites, most live first. Call it after site_table__list, which lists the
 * calls that created objects. `find` may be NULL: no stacks are taken. Returns 0 or -ENOMEM.
 */
int object_table__list(const struct object_table *table, struct process *process,
		       site_stack_fn find, void *arg);

/* "executable graphs" */
const char *object_kind__plural(enum object_kind kind);

/* The kind of object that calls of this row create; OBJECT_KINDS: none. */
enum object_kind object_kind__made_by(uint16_t row);

#endif
