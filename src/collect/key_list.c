// SPDX-License-Identifier: BSD-2-Clause
// A list of keys, see key_list.h.
#include "collect/key_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_KEYS 64

int key_list__add(struct key_list *list, const void *key, size_t size)
{
	size_t used = list->count * size, bytes = used ? 2 * (used + size) : FIRST_KEYS * size;
	char *grown;

	if (used + size > list->bytes) {
		grown = realloc(list->keys, bytes);
		if (!grown)
			return -ENOMEM;
		list->keys = grown;
		list->bytes = bytes;
	}
	memcpy(list->keys + used, key, size);
	list->count++;
	return 0;
}
