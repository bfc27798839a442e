/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells new findings from those that were there before. Watched processes cause findings, so what
 * is remembered is bounded, in all and for one process: beyond that nothing is new.
 */
#ifndef FINDING_SEEN_H
#define FINDING_SEEN_H

#include "finding/finding.h"

#define SEEN_FINDINGS 1024
#define SEEN_OF_PROCESS 32

struct seen_findings;

/* NULL without memory. */
struct seen_findings *seen_findings__new(void);
void seen_findings__free(struct seen_findings *seen); /* NULL ok */

/*
 * Remembers the findings of the list that are at least as severe as `least`. Returns the first one
 * that is new, or more severe than before; NULL: there is none.
 */
const struct finding *seen_findings__note(struct seen_findings *seen,
					  const struct finding_list *list,
					  enum finding_severity least);

/* The same, and calls `each` for all that are new or more severe. */
void seen_findings__each_new(struct seen_findings *seen, const struct finding_list *list,
			     enum finding_severity least,
			     void (*each)(const struct finding *finding, void *arg), void *arg);

#endif
