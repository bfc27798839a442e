/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The summary of a trace: the durations of each function's calls, like strace -c. Percentiles come
 * from histograms with about 3 % resolution; calls, seconds, errors, average and maximum are exact.
 */
#ifndef OUTPUT_TRACE_SUMMARY_H
#define OUTPUT_TRACE_SUMMARY_H

#include <stdint.h>
#include <stdio.h>

#include "output/trace/output.h"

struct trace_summary;

/* Calls and files that the summary does not cover. */
struct trace_missing {
	uint64_t calls; /* lost */
	/*
	 * files that may be CUDA libraries and got no probes, as LOSS_LIBRARY_SKIPPED of the
	 * monitor
	 */
	uint64_t libraries;
	uint64_t before;   /* calls that began before attach */
	uint64_t gpu_work; /* pieces of GPU work, lost as far as that is known */
};

struct trace_summary *trace_summary__new(void); /* NULL without memory */
void trace_summary__free(struct trace_summary *summary);

/*
 * Adds a line: each call counts once, including resumed and unfinished ones. Returns 0 or -ENOMEM.
 */
int trace_summary__add(struct trace_summary *summary, const struct trace_line *line);

/*
 * Prints the sums by function, most time first, and the `missing` data that they exclude. Calls
 * that did not return are counted, but their time so far is separate: average, percentiles and
 * maximum are of those that did. TRACE_TABLE: a table with a line of totals, which fits a terminal
 * of `width` columns (0: no terminal), with times in that `form`. TRACE_TSV: a line for each
 * function, times in nanoseconds, `-` if there are none; "# lost N", "# before_attach N" and
 * "# library_skipped N" unless 0. TRACE_JSON: one object, {"schema":…,"summary":{…}}. The caller
 * checks ferror(out).
 */
void trace_summary__print(struct trace_summary *summary, const struct trace_missing *missing,
			  enum trace_format format, unsigned int width, enum quantity_form form,
			  FILE *out);

#endif
