/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel names by handle, from the two ways they are told: read through the
 * handle at a launch (exact for the generation of that launch, undocumented),
 * and given by the program when it asked for the kernel (documented). One
 * disagreement turns the undocumented way off.
 */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/state.h"

struct name_store;

struct name_store *name_store__new(void);
void name_store__free(struct name_store *store);

/*
 * Takes in a name record. `name` is the watched program's: it is dropped if
 * it cannot be a kernel's. Returns 0, 1 when this record contradicted an
 * earlier one (told once), or -ENOMEM.
 */
int name_store__add(struct name_store *store, const struct record_name *record, const char *name);

/* Whatever was given from `module` (0: from any) has ended with `generation`. */
void name_store__unload(struct name_store *store, uint32_t slot, uint64_t module, uint32_t generation);

/* The mangled name of a launch's kernel, or NULL while it is not known. Valid until the next call. */
const char *name_store__find(const struct name_store *store, const struct kernel_key *key);

/* The launch's handle is done with: nobody will ask for the name that was read for it. */
void name_store__drop(struct name_store *store, const struct kernel_key *key);

/* The names of a process that is gone are of no use. */
void name_store__forget(struct name_store *store, uint32_t slot);

/* Whether names are still read through handles. */
bool name_store__trusts_handles(const struct name_store *store);

#endif
