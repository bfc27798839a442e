/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF maps in memory. A map is made at its first use, from what its variable in the program tells by types, and found
 * again by that variable's first word. Errors are the kernel's. What is deleted stays readable until maps__bury, as it does
 * in the kernel until the program has ended.
 */
#ifndef NATIVE_MAPS_H
#define NATIVE_MAPS_H

#include <linux/types.h>
#include <stddef.h>

struct map;

/* The map of `variable`, made with that type (BPF_MAP_TYPE_*), sizes in bytes and room where it is not there yet. */
struct map *map__of(void *variable, __u32 type, size_t key_bytes, size_t value_bytes, __u32 max_entries);

/* From its next use on the map has room for so many entries. Only before it is made. */
void map__resize(struct map *map, __u32 max_entries);

/* The value at `key`, the map's own; NULL: there is none. */
void *map__find(struct map *map, const void *key);

/* Returns 0, -EEXIST or -ENOENT by `flags` (BPF_NOEXIST, BPF_EXIST), or -E2BIG where there is no room. */
long map__update(struct map *map, const void *key, const void *value, __u64 flags);

/* Returns 0, or -ENOENT. */
long map__delete(struct map *map, const void *key);

/* Calls `step` (long (*)(struct map *, const void *key, void *value, void *context)) until it returns something else than 0. */
long map__each(struct map *map, void *step, void *context);

/* Queues: 0, -E2BIG where one is full, -ENOENT where it is empty. */
long map__push(struct map *map, const void *value);
long map__pop(struct map *map, void *value);

/* A task's storage, NULL where there is none; with BPF_LOCAL_STORAGE_GET_F_CREATE it is made, all zero. */
void *map__storage(struct map *map, const void *task, __u64 flags);
long map__storage_delete(struct map *map, const void *task);

/* A program has ended: frees what it has deleted. */
void maps__bury(void);

/* Frees all maps; those of variables are made anew at their next use. */
void maps__free(void);

#endif
