// SPDX-License-Identifier: BSD-2-Clause
// Kernel names by handle, see names.h.
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "symbol/kernel_name.h"

/* Read through the handle, at the first launch in a generation. */
struct read_name {
	struct kernel_key key;
	UT_hash_handle hh;
	char name[];
};

struct given_key {
	uint64_t handle;
	uint32_t slot;
	uint32_t pad;
};

struct given_name {
	struct given_key key;
	uint64_t module;
	uint32_t generation; /* in which it was given */
	uint32_t end;	     /* the generation from which it is void; 0 while it lives */
	UT_hash_handle hh;
	char *name;
};

/* Unloads of a process that the store was told of. */
struct unload_count {
	uint32_t slot;
	uint32_t count;
	UT_hash_handle hh;
};

struct name_store {
	struct read_name *read;
	struct given_name *given;
	struct unload_count *unloads;
	bool distrust;
};

struct name_store *name_store__new(void)
{
	return calloc(1, sizeof(struct name_store));
}

static void free_given(struct given_name *given)
{
	free(given->name);
	free(given);
}

void name_store__free(struct name_store *store)
{
	struct unload_count *unloads, *next_unloads;
	struct given_name *given, *next_given;
	struct read_name *read, *next_read;

	if (!store)
		return;
	HASH_ITER(hh, store->unloads, unloads, next_unloads) {
		HASH_DEL(store->unloads, unloads);
		free(unloads);
	}
	HASH_ITER(hh, store->read, read, next_read) {
		HASH_DEL(store->read, read);
		free(read);
	}
	HASH_ITER(hh, store->given, given, next_given) {
		HASH_DEL(store->given, given);
		free_given(given);
	}
	free(store);
}

static struct read_name *find_read(const struct name_store *store, const struct kernel_key *key)
{
	struct read_name *read;

	HASH_FIND(hh, store->read, key, sizeof(*key), read);
	return read;
}

static struct given_name *find_given(const struct name_store *store, uint32_t slot, uint64_t handle)
{
	struct given_key key = {.handle = handle, .slot = slot};
	struct given_name *given;

	HASH_FIND(hh, store->given, &key, sizeof(key), given);
	return given;
}

static int add_read(struct name_store *store, const struct kernel_key *key, const char *name)
{
	struct read_name *read = find_read(store, key);
	size_t size = strlen(name) + 1;

	if (read)
		return 0;
	read = calloc(1, sizeof(*read) + size);
	if (!read)
		return -ENOMEM;
	read->key = *key;
	memcpy(read->name, name, size);
	HASH_ADD(hh, store->read, key, sizeof(read->key), read);
	return 0;
}

static int add_given(struct name_store *store, const struct record_name *record, const char *name)
{
	struct given_name *given = find_given(store, record->header.slot, record->handle);
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	if (!given) {
		given = calloc(1, sizeof(*given));
		if (!given) {
			free(copy);
			return -ENOMEM;
		}
		given->key.handle = record->handle;
		given->key.slot = record->header.slot;
		HASH_ADD(hh, store->given, key, sizeof(given->key), given);
	}
	free(given->name);
	given->name = copy;
	given->module = record->module;
	given->generation = record->generation;
	given->end = 0;
	return 0;
}

/* Both ways have told a name for one handle in one generation, and not the same. */
static bool contradicts(const struct name_store *store, const struct kernel_key *key)
{
	const struct given_name *given = find_given(store, key->slot, key->handle);
	const struct read_name *read = find_read(store, key);

	return given && read && !given->end && given->generation == key->generation &&
	       strcmp(given->name, read->name);
}

int name_store__add(struct name_store *store, const struct record_name *record, const char *name)
{
	struct kernel_key key = {
		.handle = record->handle,
		.slot = record->header.slot,
		.generation = record->generation,
	};
	int ret;

	if (!kernel_name__valid(name, NAME_SIZE))
		return 0;
	if (record->source == NAME_GIVEN)
		ret = add_given(store, record, name);
	else
		ret = add_read(store, &key, name);
	if (ret || store->distrust || !contradicts(store, &key))
		return ret;
	store->distrust = true;
	return 1;
}

/* Without memory the count stays behind, and names given in earlier generations are not used. */
static void count_unload(struct name_store *store, uint32_t slot)
{
	struct unload_count *unloads;

	HASH_FIND_INT(store->unloads, &slot, unloads);
	if (!unloads) {
		unloads = calloc(1, sizeof(*unloads));
		if (!unloads)
			return;
		unloads->slot = slot;
		HASH_ADD_INT(store->unloads, slot, unloads);
	}
	unloads->count++;
}

void name_store__unload(struct name_store *store, uint32_t slot, uint64_t module, uint32_t generation)
{
	struct given_name *given, *next;

	count_unload(store, slot);
	HASH_ITER(hh, store->given, given, next) {
		if (given->key.slot == slot && (!module || given->module == module) && !given->end)
			given->end = generation;
	}
}

/*
 * Whether all unloads before the key's generation have been told: a launch is
 * seen in the maps at once, the unload that came before it may still be on its
 * way, or lost.
 */
static bool is_told(const struct name_store *store, const struct kernel_key *key)
{
	const struct unload_count *unloads;

	HASH_FIND_INT(store->unloads, &key->slot, unloads);
	return key->generation <= (unloads ? unloads->count : 0);
}

const char *name_store__find(const struct name_store *store, const struct kernel_key *key)
{
	const struct given_name *given = find_given(store, key->slot, key->handle);
	const struct read_name *read = store->distrust ? NULL : find_read(store, key);

	if (given && given->generation == key->generation && !given->end)
		return given->name;
	if (read)
		return read->name;
	if (given && given->generation <= key->generation && (!given->end || key->generation < given->end) &&
	    is_told(store, key))
		return given->name;
	return NULL;
}

void name_store__drop(struct name_store *store, const struct kernel_key *key)
{
	struct read_name *read = find_read(store, key);

	if (!read)
		return;
	HASH_DEL(store->read, read);
	free(read);
}

void name_store__forget(struct name_store *store, uint32_t slot)
{
	struct given_name *given, *next_given;
	struct read_name *read, *next_read;
	struct unload_count *unloads;

	HASH_FIND_INT(store->unloads, &slot, unloads);
	if (unloads) {
		HASH_DEL(store->unloads, unloads);
		free(unloads);
	}
	HASH_ITER(hh, store->read, read, next_read) {
		if (read->key.slot != slot)
			continue;
		HASH_DEL(store->read, read);
		free(read);
	}
	HASH_ITER(hh, store->given, given, next_given) {
		if (given->key.slot != slot)
			continue;
		HASH_DEL(store->given, given);
		free_given(given);
	}
}

bool name_store__trusts_handles(const struct name_store *store)
{
	return !store->distrust;
}
