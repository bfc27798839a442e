/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings in the metrics, by process and id, and what has been told of them.
 *
 * A finding that was drawn once stays on the page for the life of its process:
 * 1 while it is drawn, 0 while it is not. Its cost is a counter, so what is
 * told of it is the most that it has been at any page: findings come and go with the
 * shares of the time that they are judged by, and several of one id are added up.
 */
#ifndef OUTPUT_METRICS_FINDING_SERIES_H
#define OUTPUT_METRICS_FINDING_SERIES_H

#include "finding/finding.h"
#include "output/metrics/page.h"

struct finding_series;

/* NULL when out of memory. */
struct finding_series *finding_series__new(void);
void finding_series__free(struct finding_series *series);

/*
 * Writes the families of findings. `list` is what is drawn now, of the page's model; those
 * of no one process have an empty pid. Forgets processes that are not on the page. 0 or -ENOMEM:
 * the page is no good then.
 */
int finding_series__write(struct metrics_page *page, struct finding_series *series, const struct finding_list *list);

#endif
