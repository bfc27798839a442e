/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the probes of error queries (cudaGetLastError) are attached. PyTorch makes a query after
 * each launch, and a probe there costs nearly as much as the launch's. A program without errors has
 * none to query, so the probes are detached once each process has made calls for a while and no
 * call has failed. A process that was running before is past its startup. A failure attaches them
 * again, permanently. Errors that occur while they are detached are in no finding: whether the
 * program queried them is unknown.
 */
#ifndef GOVERN_ASK_PROBES_H
#define GOVERN_ASK_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

/* first calls of a process that is seen from its start: libraries probe what the GPU can do */
#define ASK_START_NS (5 * NS_PER_S)

struct ask_probes {
	uint64_t failed_ns; /* the latest failure that was seen */
	bool out, stay;	    /* stay: attached permanently */
};

/*
 * Examines the model, which has just been read, and attaches or detaches the probes through
 * `watch`, which returns 0 or a negative errno. A failure is retried next time.
 */
void ask_probes__look(struct ask_probes *probes, const struct model *model,
		      int (*watch)(void *arg, bool in), void *arg);

#endif
