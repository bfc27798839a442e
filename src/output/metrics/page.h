/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A metrics page in the making: what the writers of its families share.
 */
#ifndef OUTPUT_METRICS_PAGE_H
#define OUTPUT_METRICS_PAGE_H

#include "model/model.h"
#include "output/metrics/exposition.h"

struct metrics_page {
	struct exposition_writer writer;
	const struct model *model;
	const struct process **processes; /* those that have series, in order of first sight */
	size_t process_count;
};

/*
 * Fills the page's list of processes from its model: two processes of one pid
 * would be one series twice, so the newest of each pid is taken, unless it has
 * ended long ago. 0 or -ENOMEM; the caller frees page->processes.
 */
int metrics_page__choose_processes(struct metrics_page *page);

/* Starts a sample of a process, with the labels pid and comm. */
void metrics_page__sample(struct exposition_writer *w, const struct process *p);

/*
 * The same on a device of the process, with the labels device (its number in
 * the process), gpu and uuid; "unknown" and an empty uuid where not known.
 */
void metrics_page__sample_on(struct metrics_page *page, const struct process *p, uint8_t device);

#endif
