/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF maps in memory. A map is made at its first use, as the types of its variable in the program
 * describe it, and found again by that variable's first word. Errors are the kernel's. As in the
 * kernel, deleted values stay readable until the program has ended: until maps__bury.
 */
#ifndef NATIVE_MAPS_H
#define NATIVE_MAPS_H

#include <linux/types.h>
#include <stddef.h>

struct map;

/*
 * The map of `variable`; created with this type (BPF_MAP_TYPE_*), these sizes in bytes and this
 * capacity if it does not exist yet.
 */
struct map *map__of(void *variable, __u32 type, size_t key_bytes, size_t value_bytes,
		    __u32 max_entries);

/* Sets the capacity that the map will have from its next use on. Only before the map is made. */
void map__resize(struct map *map, __u32 max_entries);

/* The value at `key`, the map's own; NULL: there is none. */
void *map__find(struct map *map, const void *key);

/*
 * Returns 0, -EEXIST or -ENOENT by `flags` (BPF_NOEXIST, BPF_EXIST), or -E2BIG if the map is full.
 */
long map__update(struct map *map, const void *key, const void *value, __u64 flags);

/* Returns 0, or -ENOENT. */
long map__delete(struct map *map, const void *key);

/*
 * Calls `step` (long (*)(struct map *, const void *key, void *value, void *context)) until it
 * returns non-zero.
 */
long map__each(struct map *map, void *step, void *context);

/* Queues: 0, -E2BIG if the queue is full, -ENOENT if it is empty. */
long map__push(struct map *map, const void *value);
long map__pop(struct map *map, void *value);

/*
 * A task's storage, or NULL if there is none; with BPF_LOCAL_STORAGE_GET_F_CREATE it is created,
 * all zero.
 */
void *map__storage(struct map *map, const void *task, __u64 flags);
long map__storage_delete(struct map *map, const void *task);

/* Call when a program has ended: frees the values that it has deleted. */
void maps__bury(void);

/* Frees all maps; those of variables are created anew at their next use. */
void maps__free(void);

#endif
