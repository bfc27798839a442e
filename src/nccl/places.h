/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a rank was when somebody looked while others waited for it. One look may hit anything; the
 * place of most looks is what makes it late.
 */
#ifndef NCCL_PLACES_H
#define NCCL_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "nccl/jobs.h"

#define NCCL_PLACES 8 /* kept; a new one replaces the rarest */

struct nccl_place {
	enum nccl_activity activity; /* at the latest look, as the texts */
	char where[NCCL_WHERE_SIZE], waits[NCCL_WAITS_SIZE];
	uint32_t seen; /* looks that found it here */
};

/* Starts as all 0. */
struct nccl_places {
	struct nccl_place items[NCCL_PLACES];
	size_t count;
	uint32_t looks;
};

/*
 * Adds a look. Places are the same if their innermost functions are, whatever the line. Texts may
 * be NULL and are cut. Returns the place of most looks, in `places`.
 */
const struct nccl_place *nccl_places__add(struct nccl_places *places, enum nccl_activity activity,
					  const char *where, const char *waits);

#endif
