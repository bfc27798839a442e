// SPDX-License-Identifier: BSD-2-Clause
// Keys of ended processes, by map, see ended_keys.h.
#include "collect/ended_keys.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "collect/key_list.h"

struct map_keys {
	const struct bpf_map *map;
	struct key_list list;
};

struct ended_keys {
	struct map_keys *maps;
	size_t count;
};

struct ended_keys *ended_keys__new(void)
{
	return calloc(1, sizeof(struct ended_keys));
}

void ended_keys__clear(struct ended_keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		free(keys->maps[i].list.keys);
	free(keys->maps);
	*keys = (struct ended_keys){0};
}

void ended_keys__free(struct ended_keys *keys)
{
	if (!keys)
		return;
	ended_keys__clear(keys);
	free(keys);
}

static struct map_keys *find(const struct ended_keys *keys, const struct bpf_map *map)
{
	/* The latest map is the one that is being read. */
	for (size_t i = keys->count; i--;)
		if (keys->maps[i].map == map)
			return &keys->maps[i];
	return NULL;
}

static struct map_keys *take(struct ended_keys *keys, const struct bpf_map *map)
{
	struct map_keys *known = find(keys, map), *grown;

	if (known)
		return known;
	grown = realloc(keys->maps, (keys->count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	keys->maps = grown;
	grown[keys->count] = (struct map_keys){.map = map};
	return &grown[keys->count++];
}

int ended_keys__add(struct ended_keys *keys, const struct bpf_map *map, const void *key)
{
	struct map_keys *of_map = take(keys, map);

	return of_map ? key_list__add(&of_map->list, key, bpf_map__key_size(map)) : -ENOMEM;
}

void ended_keys__each(const struct ended_keys *keys, const struct bpf_map *map,
		      void (*fn)(const void *key, void *arg), void *arg)
{
	const struct map_keys *of_map = find(keys, map);
	size_t size = bpf_map__key_size(map);

	for (size_t i = 0; of_map && i < of_map->list.count; i++)
		fn(of_map->list.keys + i * size, arg);
}

/*
 * Deletes keys from `from` on by one system call, which is twice as fast as one for each.
 * It ends at a key that is not in the map. Returns how many keys are done with; 0 if this does not
 * work.
 */
static size_t delete_batch(const struct map_keys *of_map, size_t from)
{
	uint32_t count = (uint32_t)(of_map->list.count - from);
	const char *keys = of_map->list.keys + from * bpf_map__key_size(of_map->map);
	int ret = bpf_map_delete_batch(bpf_map__fd(of_map->map), keys, &count, NULL);

	if (ret && errno != ENOENT)
		return 0;
	return ret ? count + 1 : count;
}

void ended_keys__delete(struct ended_keys *keys)
{
	for (size_t m = 0; m < keys->count; m++) {
		const struct map_keys *of_map = &keys->maps[m];
		size_t size = bpf_map__key_size(of_map->map), done = 0, part = 1;

		while (part && done < of_map->list.count)
			done += part = delete_batch(of_map, done);
		for (; done < of_map->list.count; done++)
			bpf_map__delete_elem(of_map->map, of_map->list.keys + done * size, size, 0);
	}
	ended_keys__clear(keys);
}
