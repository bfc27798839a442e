/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live memory by call site over the last half minute: what grew before memory ran out. Bounded: the
 * largest sites of each reading, over all processes.
 */
#ifndef MODEL_SITE_HISTORY_H
#define MODEL_SITE_HISTORY_H

#include "model/model.h"

#define SITE_HISTORY_NS 30000000000ull

struct site_history;

/* NULL without memory. */
struct site_history *site_history__new(void);
void site_history__free(struct site_history *history); /* NULL ok */

/* Takes over the sites of the model, whose lists are of this reading. */
void site_history__sample(struct site_history *history, const struct model *model);

struct site_increase {
	const struct live_site *site; /* the one that grew most; NULL: none grew */
	uint64_t bytes, count;	      /* by how much */
	uint64_t span_ns;	      /* within this time */
};

/* What grew most in the process, whose sites are `sites`, as of now. */
struct site_increase site_history__largest(const struct site_history *history,
					   const struct process *process,
					   const struct live_site *sites, size_t count,
					   uint64_t now_ns);

/* The sites of a process: its tensors', if a framework's allocator was seen, or those from CUDA. */
const struct live_site *site_history__sites(const struct process *process, size_t *count);

#endif
