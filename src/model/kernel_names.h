/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel names by handle, from two sources: read through the handle at a launch (exact for that
 * launch's generation, but undocumented), or given by the program when it looked the kernel up
 * (documented). One contradiction turns the undocumented source off.
 */
#ifndef MODEL_KERNEL_NAMES_H
#define MODEL_KERNEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/state.h"

struct kernel_names;

struct kernel_names *kernel_names__new(void);
void kernel_names__free(struct kernel_names *store);

/*
 * Adds a name record. `name` comes from the watched program; it is dropped if it cannot be a
 * kernel's name. Returns 0, 1 if this record contradicted an earlier one (only the first time), or
 * -ENOMEM.
 */
int kernel_names__add(struct kernel_names *store, const struct record_name *record,
		      const char *name);

/* All names given from `module` (0: any module) ended with `generation`. */
void kernel_names__unload(struct kernel_names *store, uint32_t slot, uint64_t module,
			  uint32_t generation);

/* The mangled name of a launch's kernel; NULL while unknown. Valid until the next call. */
const char *kernel_names__find(const struct kernel_names *store, const struct kernel_key *key);

/* The launch's handle is gone: the name read through it will not be looked up again. */
void kernel_names__drop(struct kernel_names *store, const struct kernel_key *key);

/* Drops the names of a process that is gone. */
void kernel_names__forget(struct kernel_names *store, uint32_t slot);

/* Whether names are still read through handles. */
bool kernel_names__trusts_handles(const struct kernel_names *store);

#endif
