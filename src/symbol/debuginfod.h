/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files from debuginfod's servers, where the user has set
 * DEBUGINFOD_URLS: else nothing is ever asked.
 *
 * Threads of their own fetch, up to four at a time, so that whoever asks waits
 * for a bounded time. What is not there by then is fetched on, into the cache of
 * debuginfod's client, where it is found the next time. All other variables of
 * debuginfod-find(1) hold as well.
 */
#ifndef SYMBOL_DEBUGINFOD_H
#define SYMBOL_DEBUGINFOD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* How long debuginfod__find takes at most: for one file, and all calls together. */
#define DEBUGINFOD_FILE_MS 5000
#define DEBUGINFOD_ALL_MS 20000

struct debuginfod;

/*
 * Loads the client's library. *out is NULL where DEBUGINFOD_URLS is not set
 * or gpuprobe a file with privileges (secure_getenv(3)), and where this fails: -ENOENT without the library, or -ENOMEM.
 */
int debuginfod__new(struct debuginfod **out, struct error *err);

/* Ends what is still being fetched. NULL is ok. Takes a second at the most where a server does not answer. */
void debuginfod__free(struct debuginfod *debuginfod);

/*
 * The debug file of a build id: 0 and its *path, which lives as long as
 * `debuginfod`, and which may be of any contents; -EAGAIN while it is being
 * fetched; -ENOENT where there is none, none can be had, or 1000 others have
 * been asked for. To be called by one thread. Servers are asked once for each, and only the first call waits.
 */
int debuginfod__find(struct debuginfod *debuginfod, const uint8_t *id, size_t size, const char **path);

/* Where the client keeps the debug file of a build id. False: there is none for this id. */
bool debuginfod__cache_path(const uint8_t *id, size_t size, char path[PATH_MAX]);

#endif
