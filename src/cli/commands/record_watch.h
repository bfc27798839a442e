/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What makes `gpuprobe record --ring` write a file, with readings: a new finding of level warning
 * or worse, and a report about an allocation that has failed for good.
 */
#ifndef CLI_RECORD_WATCH_H
#define CLI_RECORD_WATCH_H

#include <stdbool.h>

#include "finding/finding.h"

struct record_watch;

/* Why a file is written, escaped: "warning alloc-churn, process 4711 (python3)". */
struct record_reason {
	char text[128];
};

/* `needs`: NEEDS_* that are met. NULL without memory. */
struct record_watch *record_watch__new(unsigned int needs);
void record_watch__free(struct record_watch *watch); /* NULL ok */

/* Call it when the probes are attached. */
void record_watch__begin(struct record_watch *watch, uint64_t began_ns);

/*
 * Looks at a new reading; at findings every few seconds, since that costs time. Returns whether
 * something has happened, with the reason. Without memory findings may be missed.
 */
bool record_watch__look(struct record_watch *watch, const struct model *model,
			struct record_reason *reason);

#endif
