// SPDX-License-Identifier: BSD-2-Clause
// A list of keys, see key_list.h.
#include "collect/key_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_KEYS 64

int key_list__make_room(struct key_list *list, size_t size)
{
	size_t used = list->count * size, bytes = used ? 2 * (used + size) : FIRST_KEYS * size;
	char *grown;

	if (used + size <= list->bytes)
		return 0;
	grown = realloc(list->keys, bytes);
	if (!grown)
		return -ENOMEM;
	list->keys = grown;
	list->bytes = bytes;
	return 0;
}

int key_list__add(struct key_list *list, const void *key, size_t size)
{
	int ret = key_list__make_room(list, size);

	if (ret)
		return ret;
	memcpy(list->keys + list->count++ * size, key, size);
	return 0;
}
