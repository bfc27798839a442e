/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the maps have of processes that have ended. It is noted while they are read, and deleted once all of the
 * reading has succeeded: one that breaks off has deleted nothing of theirs, and the next one finds it all.
 */
#ifndef COLLECT_ENDED_KEYS_H
#define COLLECT_ENDED_KEYS_H

struct bpf_map;
struct ended_keys;

/* NULL without memory. */
struct ended_keys *ended_keys__new(void);
void ended_keys__free(struct ended_keys *keys);

/* Forgets what was noted: a reading begins. */
void ended_keys__clear(struct ended_keys *keys);

/* Notes a key of a map. Returns 0 or -ENOMEM. */
int ended_keys__add(struct ended_keys *keys, const struct bpf_map *map, const void *key);

/* Calls `fn` for each noted key of the map. */
void ended_keys__each(const struct ended_keys *keys, const struct bpf_map *map, void (*fn)(const void *key, void *arg),
		      void *arg);

/* Deletes what was noted from the maps. */
void ended_keys__delete(struct ended_keys *keys);

#endif
