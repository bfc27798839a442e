// SPDX-License-Identifier: BSD-2-Clause
// Kernel names by handle, see kernel_names.h.
#include "model/kernel_names.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/table.h"
#include "symbol/kernel_name.h"

/*
 * Most bytes of names kept per process; beyond that the oldest are dropped. A program can look up
 * kernels without end.
 */
#define PROCESS_BYTES_MAX (64u << 20)
/*
 * The same for all processes together; beyond that the process with the most loses an eighth at a
 * time.
 */
#define BYTES_MAX (256u << 20)

/* Read through the handle at the first launch of a generation. */
struct read_name {
	struct kernel_key key;
	UT_hash_handle hh;
	struct read_name *prev, *next; /* within its process, oldest first */
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
	uint32_t generation; /* generation in which the program looked it up */
	uint32_t end;	     /* first generation in which it is void; 0 while it is valid */
	UT_hash_handle hh;
	struct given_name *prev, *next;		  /* within its process, oldest first */
	struct given_name *prev_live, *next_live; /* within its module, while valid */
	char *name;
};

/* The valid names of a module; there is at least one. */
struct live_module {
	uint64_t module;
	struct given_name *names;
	UT_hash_handle hh;
};

/*
 * Names of one process, so that its unloads and its end cost time only in proportion to its own
 * names.
 */
struct process_names {
	uint32_t slot;
	uint32_t unloads; /* unloads that the store has been notified of */
	size_t bytes;
	struct read_name *read;
	struct given_name *given;
	struct live_module *modules;
	UT_hash_handle hh;
};

struct kernel_names {
	struct read_name *read;
	struct given_name *given;
	struct process_names *processes;
	size_t bytes; /* of all processes */
	bool distrust;
};

struct kernel_names *kernel_names__new(void)
{
	return calloc(1, sizeof(struct kernel_names));
}

static struct process_names *find_process(const struct kernel_names *store, uint32_t slot)
{
	return TABLE_FIND(store->processes, slot, &slot);
}

/* NULL without memory. */
static struct process_names *take_process(struct kernel_names *store, uint32_t slot)
{
	return TABLE_TAKE(store->processes, slot, &slot);
}

static size_t size_of_read(const struct read_name *read)
{
	return sizeof(*read) + strlen(read->name) + 1;
}

static size_t size_of_given(const struct given_name *given)
{
	return sizeof(*given) + sizeof(struct live_module) + strlen(given->name) + 1;
}

static void add_bytes(struct kernel_names *store, struct process_names *process, ptrdiff_t bytes)
{
	process->bytes += (size_t)bytes;
	store->bytes += (size_t)bytes;
}

static void drop_read(struct kernel_names *store, struct process_names *process,
		      struct read_name *read)
{
	add_bytes(store, process, -(ptrdiff_t)size_of_read(read));
	DL_DELETE(process->read, read);
	HASH_DEL(store->read, read);
	free(read);
}

static struct live_module *find_module(const struct process_names *process, uint64_t module)
{
	return TABLE_FIND(process->modules, module, &module);
}

/* The name is void from here on, or is about to be replaced. */
static void end_life(struct process_names *process, struct given_name *given)
{
	struct live_module *live = given->end ? NULL : find_module(process, given->module);

	if (!live)
		return;
	DL_DELETE2(live->names, given, prev_live, next_live);
	if (live->names)
		return;
	HASH_DEL(process->modules, live);
	free(live);
}

static int begin_life(struct process_names *process, struct given_name *given)
{
	struct live_module *live = TABLE_TAKE(process->modules, module, &given->module);

	if (!live)
		return -ENOMEM;
	DL_APPEND2(live->names, given, prev_live, next_live);
	given->end = 0;
	return 0;
}

static void drop_given(struct kernel_names *store, struct process_names *process,
		       struct given_name *given)
{
	add_bytes(store, process, -(ptrdiff_t)size_of_given(given));
	end_life(process, given);
	DL_DELETE(process->given, given);
	HASH_DEL(store->given, given);
	free(given->name);
	free(given);
}

static void drop_process(struct kernel_names *store, struct process_names *process)
{
	while (process->read)
		drop_read(store, process, process->read);
	while (process->given)
		drop_given(store, process, process->given);
	HASH_DEL(store->processes, process);
	free(process);
}

void kernel_names__free(struct kernel_names *store)
{
	struct process_names *process, *next;

	if (!store)
		return;
	HASH_ITER (hh, store->processes, process, next) {
		drop_process(store, process);
	}
	free(store);
}

static void cut_to(struct kernel_names *store, struct process_names *process, size_t max)
{
	while (process->bytes > max) {
		if (process->given)
			drop_given(store, process, process->given);
		else
			drop_read(store, process, process->read);
	}
}

static struct process_names *find_largest(const struct kernel_names *store)
{
	struct process_names *process, *largest = store->processes;

	for (process = store->processes; process; process = process->hh.next)
		if (process->bytes > largest->bytes)
			largest = process;
	return largest;
}

static void limit(struct kernel_names *store, struct process_names *process)
{
	cut_to(store, process, PROCESS_BYTES_MAX);
	while (store->bytes > BYTES_MAX) {
		process = find_largest(store);
		cut_to(store, process, process->bytes - process->bytes / 8);
	}
}

static struct read_name *find_read(const struct kernel_names *store, const struct kernel_key *key)
{
	return TABLE_FIND(store->read, key, key);
}

static struct given_name *find_given(const struct kernel_names *store, uint32_t slot,
				     uint64_t handle)
{
	struct given_key key = {.handle = handle, .slot = slot};

	return TABLE_FIND(store->given, key, &key);
}

static int add_read(struct kernel_names *store, struct process_names *process,
		    const struct kernel_key *key, const char *name)
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
	if (TABLE_ADD(store->read, key, read)) {
		free(read);
		return -ENOMEM;
	}
	DL_APPEND(process->read, read);
	add_bytes(store, process, (ptrdiff_t)size_of_read(read));
	return 0;
}

/* A name that existed before becomes as recent as a new one. */
static int add_given(struct kernel_names *store, struct process_names *process,
		     const struct record_name *record, const char *name)
{
	struct given_name *given = find_given(store, record->header.slot, record->handle);

	if (given)
		drop_given(store, process, given);
	given = calloc(1, sizeof(*given));
	if (!given)
		return -ENOMEM;
	given->key.handle = record->handle;
	given->key.slot = record->header.slot;
	given->module = record->module;
	given->generation = record->generation;
	given->name = strdup(name);
	if (!given->name || begin_life(process, given)) {
		free(given->name);
		free(given);
		return -ENOMEM;
	}
	if (TABLE_ADD(store->given, key, given)) {
		end_life(process, given);
		free(given->name);
		free(given);
		return -ENOMEM;
	}
	DL_APPEND(process->given, given);
	add_bytes(store, process, (ptrdiff_t)size_of_given(given));
	return 0;
}

/* Both sources have named one handle in one generation, differently. */
static bool contradicts(const struct kernel_names *store, const struct kernel_key *key)
{
	const struct given_name *given = find_given(store, key->slot, key->handle);
	const struct read_name *read = find_read(store, key);

	return given && read && !given->end && given->generation == key->generation &&
	       strcmp(given->name, read->name);
}

int kernel_names__add(struct kernel_names *store, const struct record_name *record,
		      const char *name)
{
	struct kernel_key key = {
		.handle = record->handle,
		.slot = record->header.slot,
		.generation = record->generation,
	};
	struct process_names *process;
	int ret;

	if (!kernel_name__valid(name, NAME_SIZE))
		return 0;
	process = take_process(store, record->header.slot);
	if (!process)
		return -ENOMEM;
	if (record->source == NAME_GIVEN)
		ret = add_given(store, process, record, name);
	else
		ret = add_read(store, process, &key, name);
	limit(store, process);
	if (ret || store->distrust || !contradicts(store, &key))
		return ret;
	store->distrust = true;
	return 1;
}

static void end_module(struct process_names *process, struct live_module *live, uint32_t generation)
{
	struct given_name *given;

	DL_FOREACH2(live->names, given, next_live)
	{
		given->end = generation;
	}
	HASH_DEL(process->modules, live);
	free(live);
}

/* Without memory the unload count lags behind, so names from earlier generations are not used. */
void kernel_names__unload(struct kernel_names *store, uint32_t slot, uint64_t module,
			  uint32_t generation)
{
	struct process_names *process = take_process(store, slot);
	struct live_module *live, *next;

	if (!process)
		return;
	process->unloads++;
	/* 0 marks a valid name, and no generation after an unload is 0. */
	if (!generation)
		return;
	live = module ? find_module(process, module) : NULL;
	if (live)
		end_module(process, live, generation);
	if (module)
		return;
	HASH_ITER (hh, process->modules, live, next) {
		end_module(process, live, generation);
	}
}

/*
 * Whether all unloads before the key's generation have been received. A launch is visible in the
 * maps at once; the notice of an earlier unload may still be on its way, or lost.
 */
static bool is_reported(const struct kernel_names *store, const struct kernel_key *key)
{
	const struct process_names *process = find_process(store, key->slot);

	return key->generation <= (process ? process->unloads : 0);
}

const char *kernel_names__find(const struct kernel_names *store, const struct kernel_key *key)
{
	const struct given_name *given = find_given(store, key->slot, key->handle);
	const struct read_name *read = store->distrust ? NULL : find_read(store, key);

	if (given && given->generation == key->generation && !given->end)
		return given->name;
	if (read)
		return read->name;
	if (given && given->generation <= key->generation &&
	    (!given->end || key->generation < given->end) && is_reported(store, key))
		return given->name;
	return NULL;
}

void kernel_names__drop(struct kernel_names *store, const struct kernel_key *key)
{
	struct read_name *read = find_read(store, key);

	if (read)
		drop_read(store, find_process(store, key->slot), read);
}

void kernel_names__forget(struct kernel_names *store, uint32_t slot)
{
	struct process_names *process = find_process(store, slot);

	if (process)
		drop_process(store, process);
}

bool kernel_names__trusts_handles(const struct kernel_names *store)
{
	return !store->distrust;
}
