/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of code that a process generates at run time: /tmp/perf-PID.map, which JIT compilers write
 * for perf(1), with a line "START SIZE NAME" per function and numbers in hexadecimal. PID is the
 * process's in its own namespace, /tmp that of its own root. At most 32 MiB and a million functions
 * are read, names are cut at 1023 bytes, and the file must belong to the process's user.
 */
#ifndef SYMBOL_PERF_MAP_H
#define SYMBOL_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_map;

/* Reads the process's map; NULL if there is none, or if out of memory. */
struct perf_map *perf_map__read(pid_t pid);
void perf_map__free(struct perf_map *map);

/* Its memory in bytes; 0 for NULL. */
size_t perf_map__bytes(const struct perf_map *map);

/*
 * The function at `address`, valid as long as the map; if there are several, the one that was
 * written last.
 */
const char *perf_map__find(const struct perf_map *map, uint64_t address, uint64_t *offset);

#endif
