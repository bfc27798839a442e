/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CUDA libraries that the dynamic loader would find: those in /etc/ld.so.cache or, on a system
 * without that file, in the directories where distributions and container runtimes put them.
 */
#ifndef TARGET_LOADER_CACHE_H
#define TARGET_LOADER_CACHE_H

#include <stddef.h>

#include "base/error.h"

struct path_list {
	char **paths;
	size_t count;
};

void path_list__clear(struct path_list *list);

/*
 * Fills `list` with the paths (each once, after `root`) of libcuda.so.1 and libcudart.so.* for
 * x86-64; overwrites what it held before. `root` is "" for this machine. The files may no longer
 * exist. Returns 0, also if nothing is found; -EBADMSG for an invalid cache (the list is empty
 * then), or another negative errno. path_list__clear releases the list.
 */
int loader_cache__find_cuda(const char *root, struct path_list *list, struct error *err);

/*
 * Adds the libraries in one directory to `list`, which may be {0} or filled. A missing directory
 * has none.
 */
int loader_cache__find_in(const char *directory, struct path_list *list, struct error *err);

#endif
