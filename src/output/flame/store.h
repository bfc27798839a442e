/* SPDX-License-Identifier: BSD-2-Clause */
/* Unique nodes and frames of a flame graph; only for src/output/flame/graph.c. */
#ifndef OUTPUT_FLAME_STORE_H
#define OUTPUT_FLAME_STORE_H

#include "output/flame/graph.h"

struct flame_store;

/* Creates a store whose root has no frame. NULL without memory. */
struct flame_store *flame_store__new(struct flame_node **root);
void flame_store__free(struct flame_store *store);

/*
 * Returns the child of `parent` with this frame, which it creates if needed. Copies its arguments.
 * NULL without memory. A new child has weight 0 and is not linked to its parent until
 * flame_store__arrange.
 */
struct flame_node *flame_store__child(struct flame_store *store, struct flame_node *parent,
				      enum flame_frame_kind kind, const char *label,
				      const char *file, uint32_t line);

/*
 * Links the nodes, children in the order of their labels, and sets their `begin`. Returns 0 or
 * -ENOMEM.
 */
int flame_store__arrange(struct flame_store *store);

/* The frames in their order, including those of processes, which *count excludes. */
struct flame_frame *flame_store__frames(const struct flame_store *store, size_t *count);

/* The depth of the deepest node. */
unsigned int flame_store__depth(const struct flame_store *store);

#endif
