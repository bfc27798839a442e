/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of processes in the metrics (--metrics-by): those of a container, a user or a job share
 * their series, which have the group's labels in place of pid and comm.
 *
 * A group's counter is the sum of what its processes have added since gpuprobe started; what an
 * ended one added stays in it, so no counter goes back. Gauges are sums, or maxima, over the
 * processes that are on the page. A group has series while one of its processes has; its counters
 * are remembered longer, and go on if it comes back.
 *
 * At most GROUPS_MAX groups are remembered. If all of them are on the page, further processes are
 * in a group whose labels are all "other". Names of kernels and errors, which programs choose, are
 * bounded in each group.
 */
#ifndef OUTPUT_METRICS_PROCESS_GROUPS_H
#define OUTPUT_METRICS_PROCESS_GROUPS_H

#include <stdbool.h>

#include "model/model.h"
#include "output/metrics/page.h"

#define GROUPS_MAX 128

enum metrics_by {
	METRICS_BY_PROCESS = 0, /* no groups */
	METRICS_BY_CONTAINER,	/* labels namespace, pod, container, container_id */
	METRICS_BY_USER,	/* user */
	METRICS_BY_JOB,		/* slurm_job_id */
};

struct process_groups;

/* `kernels`: those of a group that get their own series. NULL without memory. */
struct process_groups *process_groups__new(enum metrics_by by, unsigned int kernels);
void process_groups__free(struct process_groups *groups);

/*
 * Starts a page: finds the group of each of its processes, which page->processes lists. Returns 0
 * or -ENOMEM.
 */
int process_groups__begin(struct process_groups *groups, const struct metrics_page *page);

/*
 * A family of samples. All that the writer gets between the first and the last of the three belongs
 * to the process whose turn it is, NULL: to no single one; the last writes the family. The first
 * returns false, and writes nothing, without memory.
 */
bool process_groups__begin_family(struct process_groups *groups, struct exposition_writer *w,
				  const struct metric_family *family, enum metric_sum sum);
void process_groups__turn(struct process_groups *groups, const struct process *p);
void process_groups__end_family(struct process_groups *groups, struct exposition_writer *w);

/* Whether the process's group has a series of its own for this label. */
bool process_groups__admits(struct process_groups *groups, const struct process *p,
			    enum many_things things, const char *label);

/* Writes how many processes of each group live. */
void process_groups__write_counts(struct process_groups *groups, struct metrics_page *page);

/*
 * Ends a page: forgets the processes that are no longer on it. Returns 0, or -ENOMEM if the page
 * lacks anything.
 */
int process_groups__end(struct process_groups *groups);

#endif
