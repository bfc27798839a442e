/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the data on followed threads to the model's form (model/host.h). */
#ifndef HOST_RESULT_H
#define HOST_RESULT_H

#include "host/followed.h"
#include "host/partners.h"
#include "model/host.h"
#include "model/steady.h"

/*
 * A process whose threads submit: for how long its control group had been throttled when the
 * process was found, and until now.
 */
struct limited_process {
	int32_t pid;
	uint64_t start_ns;
	bool known;
	bool serves; /* it listens for connections */
	unsigned int socket_looks;
	uint64_t before_ns, now_ns;
	/* The marks of the process, as last reported. */
	struct steady_marks steady;
	uint64_t marks[SITE_MARKS]; /* .now_ns at each mark */
};

struct result_source {
	const struct followed_list *list;
	const struct partners *partners;
	const struct limited_process *limited;
	size_t limited_count;
};

/*
 * Fills side->processes, which must be empty; the list keeps texts and stacks. Returns 0, or
 * -ENOMEM with a partial result.
 */
int host_result__make(const struct result_source *source, struct host_side *side);

/* Clears the processes of `side`. */
void host_result__clear(struct host_side *side);

#endif
