/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel names by handle, from the two ways they are told: read through the
 * handle at a launch (exact for the generation of that launch, undocumented),
 * and given by the program when it asked for the kernel (documented). One
 * disagreement turns the undocumented way off.
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
 * Takes in a name record. `name` is the watched program's: it is dropped if
 * it cannot be a kernel's. Returns 0, 1 when this record contradicted an
 * earlier one (told once), or -ENOMEM.
 */
int kernel_names__add(struct kernel_names *store, const struct record_name *record, const char *name);

/* Whatever was given from `module` (0: from any) has ended with `generation`. */
void kernel_names__unload(struct kernel_names *store, uint32_t slot, uint64_t module, uint32_t generation);

/* The mangled name of a launch's kernel, or NULL while it is not known. Valid until the next call. */
const char *kernel_names__find(const struct kernel_names *store, const struct kernel_key *key);

/* The launch's handle is done with: nobody will ask for the name that was read for it. */
void kernel_names__drop(struct kernel_names *store, const struct kernel_key *key);

/* The names of a process that is gone are of no use. */
void kernel_names__forget(struct kernel_names *store, uint32_t slot);

/* Whether names are still read through handles. */
bool kernel_names__trusts_handles(const struct kernel_names *store);

#endif
