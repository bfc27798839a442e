// SPDX-License-Identifier: BSD-2-Clause
// Ids of keys, see dictionary.h.
#include "record/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

struct dictionary_entry {
	UT_hash_handle hh;
	uint32_t id;
	uint8_t key[];
};

uint32_t dictionary__find(const struct dictionary *dictionary, const void *key, size_t length)
{
	struct dictionary_entry *entry;

	HASH_FIND(hh, dictionary->entries, key, (unsigned int)length, entry);
	return entry ? entry->id : 0;
}

uint32_t dictionary__take(struct dictionary *dictionary, const void *key, size_t length,
			  bool *is_new)
{
	struct dictionary_entry *entry;
	uint32_t id = dictionary__find(dictionary, key, length);

	*is_new = false;
	if (id)
		return id;
	entry = malloc(sizeof(*entry) + length);
	if (!entry)
		return 0;
	entry->id = dictionary->count + 1;
	memcpy(entry->key, key, length);
	HASH_ADD_KEYPTR(hh, dictionary->entries, entry->key, (unsigned int)length, entry);
	if (!entry->hh.tbl) {
		free(entry);
		return 0;
	}
	dictionary->count++;
	dictionary->bytes += length;
	*is_new = true;
	return entry->id;
}

void dictionary__clear(struct dictionary *dictionary)
{
	TABLE_CLEAR(dictionary->entries, free);
	dictionary->count = 0;
	dictionary->bytes = 0;
}
