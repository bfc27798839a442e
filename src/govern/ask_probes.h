/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the probes of what asks for errors (cudaGetLastError) are in. PyTorch asks after each launch: a probe there costs nearly
 * as much as the launch's. A program that has met no error has none to ask for: the probes go out once each process has made
 * calls for a while, and no call has failed. A process that ran before has had its start. A failure brings them in again, for good. Errors that come while they are out are in no
 * finding: nobody knows whether the program asked for them.
 */
#ifndef GOVERN_ASK_PROBES_H
#define GOVERN_ASK_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

#define ASK_START_NS (5 * NS_PER_S) /* the first calls of a process that is seen from its start: libraries try what a GPU can */

struct ask_probes {
	uint64_t failed_ns; /* the latest failure that was seen */
	bool out, stay;	    /* stay: in for good */
};

/*
 * Looks at the model, which has been read just now: puts the probes in or takes them out by `watch`, which returns 0 or a
 * negative errno; where it fails, that is tried the next time.
 */
void ask_probes__look(struct ask_probes *probes, const struct model *model, int (*watch)(void *arg, bool in), void *arg);

#endif
