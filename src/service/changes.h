/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes to the journal what changes: a finding when it appears, when it has become worse, and when
 * it has ended; calls that were lost.
 *
 * Watched processes cause findings, so their number and their lines are bounded. Findings beyond
 * the bounds wait for room, and the journal says how many wait.
 */
#ifndef SERVICE_CHANGES_H
#define SERVICE_CHANGES_H

#include "finding/finding.h"
#include "model/model.h"
#include "service/journal.h"

/* Findings that are followed at a time, in all and of one process. */
#define CHANGES_FOLLOWED 1024
#define CHANGES_OF_PROCESS 32
/* Lines about findings in a minute. */
#define CHANGES_LINES 60

struct changes;

/* `journal` must outlive it. NULL without memory. */
struct changes *changes__new(struct journal *journal);
void changes__free(struct changes *changes); /* NULL ok */

/*
 * Writes what has changed since the last call. `list` was detected from the model. Returns 0, or
 * -ENOMEM: what is missing follows at the next call.
 */
int changes__write(struct changes *changes, const struct model *model,
		   const struct finding_list *list);

#endif
