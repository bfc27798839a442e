/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The map entries of ended processes. A reading notes their keys and deletes them once all of it
 * has succeeded. A reading that fails deletes none of them, so the next one finds them all.
 */
#ifndef COLLECT_ENDED_KEYS_H
#define COLLECT_ENDED_KEYS_H

struct bpf_map;
struct ended_keys;

/* NULL without memory. */
struct ended_keys *ended_keys__new(void);
void ended_keys__free(struct ended_keys *keys);

/* Drops all noted keys, at the beginning of a reading. */
void ended_keys__clear(struct ended_keys *keys);

/* Notes a key of a map. Returns 0 or -ENOMEM. */
int ended_keys__add(struct ended_keys *keys, const struct bpf_map *map, const void *key);

/* Calls `fn` for each noted key of the map. */
void ended_keys__each(const struct ended_keys *keys, const struct bpf_map *map,
		      void (*fn)(const void *key, void *arg), void *arg);

/* Deletes the noted keys from their maps. */
void ended_keys__delete(struct ended_keys *keys);

#endif
