/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debuginfod's client, libdebuginfod.so.1, loaded where the loader finds it; needed only if the
 * user wants to use servers.
 */
#ifndef SYMBOL_DEBUGINFOD_LIBRARY_H
#define SYMBOL_DEBUGINFOD_LIBRARY_H

#include "base/error.h"

struct debuginfod_client; /* the library's type; for one thread at a time */

/* Called about once a second during a fetch; any result except 0 cancels it. */
typedef int (*debuginfod_progress_fn)(struct debuginfod_client *client, long done, long all);

/* Functions of the library, as its debuginfod.h declares them. */
struct debuginfod_library {
	void *handle;
	struct debuginfod_client *(*begin)(void);
	void (*end)(struct debuginfod_client *client);
	/* Returns a file descriptor and the path in the cache (malloc), or a negative errno. */
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *id, int size,
			      char **path);
	void (*set_progress)(struct debuginfod_client *client, debuginfod_progress_fn fn);
};

/* Returns 0, or -ENOENT with the reason in `err` if there is no library or it lacks a function. */
int debuginfod_library__open(struct debuginfod_library *library, struct error *err);
void debuginfod_library__close(struct debuginfod_library *library);

#endif
