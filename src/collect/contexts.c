// SPDX-License-Identifier: BSD-2-Clause
// The contexts of all processes by slot and handle, see contexts.h.
#include "collect/contexts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

struct entry {
	struct context_key key;
	struct context_record record;
	UT_hash_handle hh;
};

struct contexts {
	struct entry *entries;
};

struct contexts *contexts__new(void)
{
	return calloc(1, sizeof(struct contexts));
}

void contexts__clear(struct contexts *contexts)
{
	TABLE_CLEAR(contexts->entries, free);
}

void contexts__free(struct contexts *contexts)
{
	if (!contexts)
		return;
	contexts__clear(contexts);
	free(contexts);
}

int contexts__add(struct contexts *contexts, const struct context_key *key,
		  const struct context_record *record)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	entry->key.context = key->context;
	entry->key.slot = key->slot;
	entry->record = *record;
	HASH_ADD(hh, contexts->entries, key, sizeof(entry->key), entry);
	if (entry->hh.tbl)
		return 0;
	free(entry);
	return -ENOMEM;
}

const struct context_record *contexts__find(const struct contexts *contexts, uint32_t slot,
					    uint64_t context)
{
	const struct context_key key = {.context = context, .slot = slot};
	struct entry *entry;

	HASH_FIND(hh, contexts->entries, &key, sizeof(key), entry);
	return entry ? &entry->record : NULL;
}

bool contexts__took(const struct contexts *contexts, uint32_t slot, uint64_t context,
		    uint64_t start_ns)
{
	const struct context_record *record =
		context ? contexts__find(contexts, slot, context) : NULL;

	return record && record->died_ns > start_ns;
}

bool contexts__is_settled(const struct contexts *contexts, uint32_t slot, uint64_t context)
{
	const struct context_record *record = contexts__find(contexts, slot, context);

	return !record || !record->dying;
}
