/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of a recording's keys, which are bytes: the first key has the id 1, the next one 2, … */
#ifndef RECORD_DICTIONARY_H
#define RECORD_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dictionary {
	struct dictionary_entry *entries;
	uint32_t count;
	size_t bytes; /* of all keys */
};

/*
 * Returns the key's id. *is_new is set if it has just been given, and the key is copied. Returns 0
 * if memory runs out.
 */
uint32_t dictionary__take(struct dictionary *dictionary, const void *key, size_t length,
			  bool *is_new);

/* The key's id, or 0 if it has none. */
uint32_t dictionary__find(const struct dictionary *dictionary, const void *key, size_t length);

/* Forgets all keys; the next one has the id 1. */
void dictionary__clear(struct dictionary *dictionary);

#endif
