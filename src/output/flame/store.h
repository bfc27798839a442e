/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes and frames of a flame graph, each there once; for src/output/flame/graph.c only. */
#ifndef OUTPUT_FLAME_STORE_H
#define OUTPUT_FLAME_STORE_H

#include "output/flame/graph.h"

struct flame_store;

/* With a root that has no frame. NULL without memory. */
struct flame_store *flame_store__new(struct flame_node **root);
void flame_store__free(struct flame_store *store);

/*
 * The child of `parent` with this frame, made where there is none yet; nothing
 * is taken over. NULL without memory. A new one has no weight and is not among
 * its parent's children before flame_store__arrange.
 */
struct flame_node *flame_store__child(struct flame_store *store, struct flame_node *parent,
				      enum flame_frame_kind kind, const char *label, const char *file,
				      uint32_t line);

/* Links the nodes, children by their labels, and sets their `begin`. -ENOMEM. */
int flame_store__arrange(struct flame_store *store);

/* The frames in their order, those of processes among them; *count without these. */
struct flame_frame *flame_store__frames(const struct flame_store *store, size_t *count);

/* Of the deepest node. */
unsigned int flame_store__depth(const struct flame_store *store);

#endif
