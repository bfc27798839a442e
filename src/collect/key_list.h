/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of map entries to delete once the map has been read. All keys of a list have the same size,
 * which the callers pass.
 */
#ifndef COLLECT_KEY_LIST_H
#define COLLECT_KEY_LIST_H

#include <stddef.h>

struct key_list {
	char *keys;   /* free() */
	size_t count; /* number of keys */
	size_t bytes; /* capacity of `keys` */
};

/* Appends a copy of a key of `size` bytes. Returns 0 or -ENOMEM. */
int key_list__add(struct key_list *list, const void *key, size_t size);

/* Makes sure that the next key_list__add does not fail. Returns 0 or -ENOMEM. */
int key_list__make_room(struct key_list *list, size_t size);

#endif
