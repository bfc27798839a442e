/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings in the metrics, by process and id, and the values that earlier pages reported.
 *
 * Once detected, a finding stays on the page for the life of its process: 1 while it is detected, 0
 * while it is not. Its cost is a counter, so the page has the highest cost that any page had. The
 * current cost may fall, because findings come and go with the share of time by which they are
 * judged, and because all findings of one id are added up.
 */
#ifndef OUTPUT_METRICS_FINDING_SERIES_H
#define OUTPUT_METRICS_FINDING_SERIES_H

#include "finding/finding.h"
#include "output/metrics/page.h"

struct finding_series;

/* NULL without memory. */
struct finding_series *finding_series__new(void);
void finding_series__free(struct finding_series *series);

/*
 * Writes the families of findings. `list` is what was detected in the page's model now. Findings
 * that belong to several processes have an empty pid. Forgets processes that are not on the page.
 * Returns 0, or -ENOMEM: then the page is unusable.
 */
int finding_series__write(struct metrics_page *page, struct finding_series *series,
			  const struct finding_list *list);

#endif
