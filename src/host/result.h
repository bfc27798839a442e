/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes of what is known of followed threads what the model has (model/host.h). */
#ifndef HOST_RESULT_H
#define HOST_RESULT_H

#include "host/followed.h"
#include "host/partners.h"
#include "model/host.h"
#include "model/steady.h"

/* Of a process whose threads submit: how long its control group had been kept from running when it was found, and has been now. */
struct limited_process {
	int32_t pid;
	uint64_t start_ns;
	bool known;
	bool serves; /* it was seen to listen for connections */
	uint64_t before_ns, now_ns;
	/* Of the process, as told last */
	struct steady_marks steady;
	uint64_t marks[SITE_MARKS]; /* what .now_ns was at each */
};

struct result_source {
	const struct followed_list *list;
	const struct partners *partners;
	const struct limited_process *limited;
	size_t limited_count;
	uint64_t now_ns;
};

/*
 * Fills side->processes, empty before; texts and stacks stay those of the list. 0 or -ENOMEM: what there was memory for.
 */
int host_result__make(const struct result_source *source, struct host_side *side);

/* Empties them. */
void host_result__clear(struct host_side *side);

#endif
