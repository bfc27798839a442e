/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernels of a process have a series of their own in the metrics, and
 * what has been told of them, so that no counter ever goes back.
 *
 * The first kernels of a process that have a name get a series each, by label
 * (the full name, cut), for the life of the process; all other launches are
 * counted in one series "other". A kernel whose name comes late has been told
 * in "other" up to then: those launches stay there and its own series starts
 * with the later ones. So every series only grows, and all series of a process
 * add up to its launches at every scrape.
 */
#ifndef OUTPUT_METRICS_KERNEL_SERIES_H
#define OUTPUT_METRICS_KERNEL_SERIES_H

#include "base/table.h"
#include "model/model.h"

/* The label of the rest, and the longest label in bytes. */
#define KERNEL_SERIES_OTHER "other"
#define KERNEL_SERIES_LABEL 200

/* One kernel's series. */
struct kernel_count {
	char *label;
	uint64_t value;	 /* launches as told */
	uint64_t offset; /* launches told in "other" before */
	uint64_t next;	 /* while updating */
	UT_hash_handle hh;
};

/* The series of one process. */
struct process_kernels {
	struct kernel_count *kernels; /* a uthash table in order of first sight: walk hh.next */
	uint64_t other;		      /* launches that are in none of them */
};

struct kernel_series;

/* At most `limit` series of their own a process. NULL when out of memory. */
struct kernel_series *kernel_series__new(unsigned int limit);
void kernel_series__free(struct kernel_series *series);

/*
 * Brings the series of `process` up to date and returns them, valid until the
 * next call; NULL when out of memory. A kernel for which there is no memory is
 * counted in "other".
 */
const struct process_kernels *kernel_series__update(struct kernel_series *series,
						    const struct process *process);

/* Forgets the processes that were not updated since the last call. */
void kernel_series__sweep(struct kernel_series *series);

#endif
