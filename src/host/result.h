/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes of what is known of followed threads what the model has (model/host.h). */
#ifndef HOST_RESULT_H
#define HOST_RESULT_H

#include "host/followed.h"
#include "host/partners.h"
#include "model/host.h"

/* Of a process whose threads submit: what its control group had been throttled by when the window began, and has been now. */
struct throttle_base {
	int32_t pid;
	uint64_t start_ns;
	struct host_throttle at, now;
};

struct result_source {
	const struct followed_list *list;
	const struct partners *partners;
	const struct throttle_base *throttles;
	size_t throttle_count;
	uint64_t now_ns;
};

/*
 * Fills side->processes, empty before; texts and stacks stay those of the list. 0 or -ENOMEM: what there was memory for.
 */
int host_result__make(const struct result_source *source, struct host_side *side);

/* Empties them. */
void host_result__clear(struct host_side *side);

#endif
