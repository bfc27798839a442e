// SPDX-License-Identifier: BSD-2-Clause
// BPF maps in memory, see maps.h.
#include "maps.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A hash entry has the key's bytes, then the value's; a queue entry only the value's. */
struct entry {
	UT_hash_handle hh;
	struct entry *next; /* in a queue, or among the deleted ones */
	_Alignas(16) unsigned char bytes[];
};

struct map {
	struct map **variable; /* the program's variable that refers to this map */
	struct map *next;
	__u32 type, max_entries, used;
	size_t key_bytes, value_bytes;
	unsigned char *values;	     /* of an array */
	struct entry *entries;	     /* of a hash */
	struct entry *first, **last; /* of a queue */
};

static struct map *maps;
static struct entry *buried;

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes);

	assert(memory);
	return memory;
}

static bool is_array(const struct map *map)
{
	return map->type == BPF_MAP_TYPE_ARRAY || map->type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

struct map *map__of(void *variable, __u32 type, size_t key_bytes, size_t value_bytes,
		    __u32 max_entries)
{
	struct map **at = variable, *map = *at;

	if (map)
		return map;
	map = allocate(sizeof(*map));
	map->variable = at;
	map->type = type;
	map->key_bytes = key_bytes;
	map->value_bytes = value_bytes;
	map->max_entries = max_entries;
	map->last = &map->first;
	map->next = maps;
	maps = map;
	*at = map;
	return map;
}

void map__resize(struct map *map, __u32 max_entries)
{
	assert(!map->values && !map->used);
	map->max_entries = max_entries;
}

/* --- arrays --- */

static void *array_value(struct map *map, const void *key)
{
	__u32 number;

	memcpy(&number, key, sizeof(number));
	if (number >= map->max_entries)
		return NULL;
	if (!map->values)
		map->values = allocate(map->max_entries * map->value_bytes);
	return map->values + number * map->value_bytes;
}

/* --- hashes --- */

/* Values are aligned for any type. */
static size_t value_offset(const struct map *map)
{
	return (map->key_bytes + 15) & ~(size_t)15;
}

static struct entry *find_entry(struct map *map, const void *key)
{
	struct entry *entry;

	HASH_FIND(hh, map->entries, key, map->key_bytes, entry);
	return entry;
}

static struct entry *new_entry(const struct map *map)
{
	return allocate(sizeof(struct entry) + value_offset(map) + map->value_bytes);
}

static void bury(struct entry *entry)
{
	entry->next = buried;
	buried = entry;
}

static void remove_entry(struct map *map, struct entry *entry)
{
	HASH_DEL(map->entries, entry);
	map->used--;
	bury(entry);
}

static struct entry *add_entry(struct map *map, const void *key)
{
	struct entry *entry;

	/* An LRU map evicts the oldest entry. */
	if (map->used >= map->max_entries && map->type == BPF_MAP_TYPE_LRU_HASH)
		remove_entry(map, map->entries);
	if (map->used >= map->max_entries)
		return NULL;
	entry = new_entry(map);
	memcpy(entry->bytes, key, map->key_bytes);
	HASH_ADD_KEYPTR(hh, map->entries, entry->bytes, map->key_bytes, entry);
	map->used++;
	return entry;
}

void *map__find(struct map *map, const void *key)
{
	struct entry *entry;

	if (is_array(map))
		return array_value(map, key);
	entry = find_entry(map, key);
	return entry ? entry->bytes + value_offset(map) : NULL;
}

long map__update(struct map *map, const void *key, const void *value, __u64 flags)
{
	struct entry *entry;

	assert(!is_array(map));
	entry = find_entry(map, key);
	if (entry && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!entry && flags == BPF_EXIST)
		return -ENOENT;
	if (!entry)
		entry = add_entry(map, key);
	if (!entry)
		return -E2BIG;
	memcpy(entry->bytes + value_offset(map), value, map->value_bytes);
	return 0;
}

long map__delete(struct map *map, const void *key)
{
	struct entry *entry;

	assert(!is_array(map));
	entry = find_entry(map, key);
	if (!entry)
		return -ENOENT;
	remove_entry(map, entry);
	return 0;
}

long map__each(struct map *map, void *step, void *context)
{
	long (*call)(struct map *, const void *, void *, void *) = step;
	struct entry *entry, *next;
	long count = 0;

	HASH_ITER (hh, map->entries, entry, next) {
		count++;
		if (call(map, entry->bytes, entry->bytes + value_offset(map), context))
			break;
	}
	return count;
}

/* --- queues --- */

long map__push(struct map *map, const void *value)
{
	struct entry *entry;

	if (map->used >= map->max_entries)
		return -E2BIG;
	entry = new_entry(map);
	memcpy(entry->bytes, value, map->value_bytes);
	*map->last = entry;
	map->last = &entry->next;
	map->used++;
	return 0;
}

long map__pop(struct map *map, void *value)
{
	struct entry *entry = map->first;

	if (!entry)
		return -ENOENT;
	memcpy(value, entry->bytes, map->value_bytes);
	map->first = entry->next;
	if (!map->first)
		map->last = &map->first;
	map->used--;
	free(entry);
	return 0;
}

/* --- storage of tasks --- */

void *map__storage(struct map *map, const void *task, __u64 flags)
{
	struct entry *entry = find_entry(map, &task);

	if (!entry && flags & BPF_LOCAL_STORAGE_GET_F_CREATE)
		entry = add_entry(map, &task);
	return entry ? entry->bytes + value_offset(map) : NULL;
}

long map__storage_delete(struct map *map, const void *task)
{
	return map__delete(map, &task);
}

/* --- freeing --- */

void maps__bury(void)
{
	struct entry *entry;

	while ((entry = buried)) {
		buried = entry->next;
		free(entry);
	}
}

static void free_map(struct map *map)
{
	struct entry *entry;

	while ((entry = map->entries))
		remove_entry(map, entry);
	while ((entry = map->first)) {
		map->first = entry->next;
		free(entry);
	}
	*map->variable = NULL;
	free(map->values);
	free(map);
}

void maps__free(void)
{
	struct map *map;

	while ((map = maps)) {
		maps = map->next;
		free_map(map);
	}
	maps__bury();
}
