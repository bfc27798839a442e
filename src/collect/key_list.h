/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of map entries that are to be deleted once the map has been read; of one size, by whoever adds them. */
#ifndef COLLECT_KEY_LIST_H
#define COLLECT_KEY_LIST_H

#include <stddef.h>

struct key_list {
	char *keys;   /* free() */
	size_t count; /* of keys */
	size_t bytes; /* that there is room for */
};

/* Appends a copy of a key of `size` bytes. Returns 0 or -ENOMEM. */
int key_list__add(struct key_list *list, const void *key, size_t size);

/* Makes sure that the next key_list__add does not fail. Returns 0 or -ENOMEM. */
int key_list__make_room(struct key_list *list, size_t size);

#endif
