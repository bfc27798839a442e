/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dynamic loader's debugger interface: it calls _dl_debug_state, an empty
 * function, around every change to the list of loaded objects, and _r_debug
 * tells what state the list is in. glibc and musl both have it.
 */
#ifndef TARGET_LOADER_H
#define TARGET_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "target/elf_file.h"

struct loader_site {
	uint64_t file_offset; /* of _dl_debug_state */
	int64_t to_r_debug;   /* from there to _r_debug in memory; 0 where it has none (musl) */
};

/* Whether a mapped file's path is that of a dynamic loader. */
bool loader__is_path(const char *path);

/* Finds the site in a loader. Returns 0, -ENOENT, or another negative errno. */
int loader__find_site(struct elf_file *file, struct loader_site *site);

#endif
