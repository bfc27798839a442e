/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files from debuginfod's servers, only if the user has set DEBUGINFOD_URLS.
 *
 * Separate threads fetch up to four files at a time, so the caller waits only for a bounded time. A
 * file that is late is fetched to the end into the cache of debuginfod's client, and found there
 * the next time. All other variables of debuginfod-find(1) apply as well.
 */
#ifndef SYMBOL_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The longest time that debuginfod__find takes: for one file, and for all calls together. */
#define DEBUGINFOD_FILE_MS 5000
#define DEBUGINFOD_ALL_MS 20000

struct debuginfod;

/*
 * Loads the client's library. *out is NULL if DEBUGINFOD_URLS is not set, or if gpuprobe is a file
 * with privileges (secure_getenv(3)). *out is also NULL on failure: -ENOENT without the library, or
 * -ENOMEM.
 */
int debuginfod__new(struct debuginfod **out, struct error *err);

/* Cancels running fetches. NULL is ok. Takes at most a second if a server does not answer. */
void debuginfod__free(struct debuginfod *debuginfod);

/*
 * Finds the debug file of a build id. Returns 0 and *path, which lives as long as `debuginfod`; the
 * file may have any contents. Returns -EAGAIN while it is being fetched, and -ENOENT if there is
 * none, it cannot be fetched, or 1000 others have been requested. Call from one thread. Each file
 * is requested once, and only the first call for it waits.
 */
int debuginfod__find(struct debuginfod *debuginfod, const uint8_t *id, size_t size,
		     const char **path);

/*
 * The path where the client keeps the debug file of a build id. Returns false if this id has none.
 */
bool debuginfod__cache_path(const uint8_t *id, size_t size, char path[PATH_MAX]);

#endif
