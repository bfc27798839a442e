/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses which kernels of a process get their own series in the metrics, and remembers the values
 * that earlier pages reported, so that no counter ever decreases.
 *
 * The first kernels of a process that have a name get a series each, by label (the full name, cut),
 * for the life of the process. All other launches are counted in one series, "other". A kernel
 * whose name becomes known late was reported in "other" until then. Those launches stay there, and
 * its own series starts with the later ones. So every series only grows, and all series of a
 * process add up to its launches at every scrape.
 */
#ifndef OUTPUT_METRICS_KERNEL_SERIES_H
#define OUTPUT_METRICS_KERNEL_SERIES_H

#include "base/table.h"
#include "model/model.h"

/* The label of all other kernels, and the longest label in bytes. */
#define KERNEL_SERIES_OTHER "other"
#define KERNEL_SERIES_LABEL 200

/* One kernel's series. */
struct kernel_count {
	char *label;
	uint64_t value;	 /* launches as reported */
	uint64_t offset; /* launches reported in "other" before */
	uint64_t next;	 /* its next value, during an update */
	UT_hash_handle hh;
};

/* The series of one process. */
struct process_kernels {
	struct kernel_count *kernels; /* a uthash table in order of first sight: walk hh.next */
	uint64_t other;		      /* launches that are in none of them */
};

struct kernel_series;

/* Each process gets at most `limit` series besides "other". NULL without memory. */
struct kernel_series *kernel_series__new(unsigned int limit);
void kernel_series__free(struct kernel_series *series);

/*
 * Updates the series of `process` and returns them, valid until the next call; NULL without memory.
 * A kernel whose series cannot be allocated is counted in "other".
 */
const struct process_kernels *kernel_series__update(struct kernel_series *series,
						    const struct process *process);

/* Forgets the processes that were not updated since the last call. */
void kernel_series__sweep(struct kernel_series *series);

#endif
