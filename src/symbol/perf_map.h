/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that a process makes as it runs: /tmp/perf-PID.map, which JIT
 * compilers write for perf(1), a line "START SIZE NAME" a function, numbers in
 * hexadecimal. PID is the process's in its own namespace, /tmp that of its own
 * root. Whatever the file says: at most 32 MiB and a million functions of it
 * are taken, names are cut at 1023 bytes, and it must belong to the process's
 * user.
 */
#ifndef SYMBOL_PERF_MAP_H
#define SYMBOL_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_map;

/* The process's map as it is now; NULL: there is none, or no memory. */
struct perf_map *perf_map__read(pid_t pid);
void perf_map__free(struct perf_map *map);

/* What it takes in memory; 0 without one. */
size_t perf_map__bytes(const struct perf_map *map);

/* The function that `address` lies in, as long as the map is there; of several the last that was written. */
const char *perf_map__find(const struct perf_map *map, uint64_t address, uint64_t *offset);

#endif
