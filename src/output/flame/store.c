// SPDX-License-Identifier: BSD-2-Clause
// Nodes and frames of a flame graph, see store.h.
#include "output/flame/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

struct stored_frame {
	struct flame_frame frame;
	char *key; /* everything that distinguishes it from other frames */
	UT_hash_handle hh;
};

struct node_key {
	const struct flame_node *parent;
	const struct flame_frame *frame;
};

struct stored_node {
	struct flame_node node;
	struct node_key key;
	UT_hash_handle hh;
};

struct flame_store {
	struct stored_frame *by_key;
	struct stored_node *by_parent;
	struct flame_node root;
	struct flame_frame *first, **last;
	size_t numbered; /* frames excluding those of processes */
	size_t nodes;
	unsigned int depth;
};

struct flame_store *flame_store__new(struct flame_node **root)
{
	struct flame_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->last = &store->first;
	*root = &store->root;
	return store;
}

static void free_frame(struct stored_frame *stored)
{
	free(stored->frame.label);
	free(stored->frame.file);
	free(stored->key);
	free(stored);
}

void flame_store__free(struct flame_store *store)
{
	if (!store)
		return;
	TABLE_CLEAR(store->by_key, free_frame);
	TABLE_CLEAR(store->by_parent, free);
	free(store);
}

/* --- frames --- */

/* A label contains no newline, so newlines separate the parts of the key. */
static char *make_key(enum flame_frame_kind kind, const char *label, const char *file,
		      uint32_t line)
{
	char *key;

	if (asprintf(&key, "%d:%s\n%u:%s", (int)kind, label, line, file ? file : "") < 0)
		return NULL;
	return key;
}

/* Takes ownership of `key`. */
static struct stored_frame *new_frame(struct flame_store *store, char *key,
				      enum flame_frame_kind kind, const char *label,
				      const char *file, uint32_t line)
{
	struct stored_frame *stored = calloc(1, sizeof(*stored));

	if (!stored) {
		free(key);
		return NULL;
	}
	stored->key = key;
	stored->frame.kind = kind;
	stored->frame.line = line;
	stored->frame.label = strdup(label);
	stored->frame.file = file ? strdup(file) : NULL;
	if (!stored->frame.label || (file && !stored->frame.file)) {
		free_frame(stored);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, store->by_key, stored->key, strlen(stored->key), stored);
	if (!stored->hh.tbl) {
		free_frame(stored);
		return NULL;
	}
	stored->frame.number = store->numbered;
	store->numbered += kind != FLAME_PROCESS;
	*store->last = &stored->frame;
	store->last = &stored->frame.next;
	return stored;
}

static const struct flame_frame *frame_of(struct flame_store *store, enum flame_frame_kind kind,
					  const char *label, const char *file, uint32_t line)
{
	char *key = make_key(kind, label, file, line);
	struct stored_frame *stored;

	if (!key)
		return NULL;
	HASH_FIND_STR(store->by_key, key, stored);
	if (stored)
		free(key);
	else
		stored = new_frame(store, key, kind, label, file, line);
	return stored ? &stored->frame : NULL;
}

struct flame_frame *flame_store__frames(const struct flame_store *store, size_t *count)
{
	*count = store->numbered;
	return store->first;
}

/* --- nodes --- */

static struct stored_node *new_node(struct flame_store *store, struct flame_node *parent,
				    const struct node_key *key)
{
	struct stored_node *stored = TABLE_ADD_NEW(store->by_parent, key, key);

	if (!stored)
		return NULL;
	stored->node.frame = key->frame;
	stored->node.parent = parent;
	stored->node.depth = parent->depth + 1;
	if (stored->node.depth > store->depth)
		store->depth = stored->node.depth;
	store->nodes++;
	return stored;
}

struct flame_node *flame_store__child(struct flame_store *store, struct flame_node *parent,
				      enum flame_frame_kind kind, const char *label,
				      const char *file, uint32_t line)
{
	struct node_key key = {.parent = parent, .frame = frame_of(store, kind, label, file, line)};
	struct stored_node *stored;

	if (!key.frame)
		return NULL;
	stored = TABLE_FIND(store->by_parent, key, &key);
	if (!stored)
		stored = new_node(store, parent, &key);
	return stored ? &stored->node : NULL;
}

unsigned int flame_store__depth(const struct flame_store *store)
{
	return store->depth;
}

/* --- their order --- */

static int compare(const void *one, const void *other)
{
	const struct flame_frame *a = (*(struct flame_node *const *)one)->frame;
	const struct flame_frame *b = (*(struct flame_node *const *)other)->frame;
	int order = strcmp(a->label, b->label);

	return order ? order :
		       strcmp(((const struct stored_frame *)a)->key,
			      ((const struct stored_frame *)b)->key);
}

/*
 * Walks the nodes, which are sorted by label, backwards and puts each at the head of its parent's
 * list, so that every list ends up sorted.
 */
static void link_children(struct flame_node **sorted, size_t count)
{
	while (count-- > 0) {
		struct flame_node *node = sorted[count];

		node->next = node->parent->child;
		node->parent->child = node;
	}
}

static void lay_out(struct flame_store *store)
{
	for (const struct flame_node *node = &store->root; node; node = flame_node__next(node)) {
		uint64_t begin = node->begin;

		for (struct flame_node *child = node->child; child; child = child->next) {
			child->begin = begin;
			begin += child->total;
		}
	}
}

int flame_store__arrange(struct flame_store *store)
{
	struct flame_node **sorted =
		calloc(store->nodes ? store->nodes : 1, sizeof(struct flame_node *));
	struct stored_node *node, *next;
	size_t count = 0;

	if (!sorted)
		return -ENOMEM;
	HASH_ITER (hh, store->by_parent, node, next)
		sorted[count++] = &node->node;
	qsort(sorted, count, sizeof(*sorted), compare);
	link_children(sorted, count);
	lay_out(store);
	free(sorted);
	return 0;
}
