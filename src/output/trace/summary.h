/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The summary of a trace: what each function's calls took, like strace -c.
 * Percentiles come from histograms of about 3 % resolution; calls, seconds,
 * errors, average and maximum are exact.
 */
#ifndef OUTPUT_TRACE_SUMMARY_H
#define OUTPUT_TRACE_SUMMARY_H

#include <stdint.h>
#include <stdio.h>

#include "output/trace/output.h"

struct trace_summary;

/* What is not in it. */
struct trace_missing {
	uint64_t calls;	    /* lost */
	uint64_t libraries; /* files that may be CUDA libraries and got no probes, as LOSS_LIBRARY_SKIPPED of the monitor */
	uint64_t before;    /* calls that had begun before attach */
};

struct trace_summary *trace_summary__new(void); /* NULL without memory */
void trace_summary__free(struct trace_summary *summary);

/* Takes a line into account: calls, resumed and unfinished ones, each call once. 0 or -ENOMEM. */
int trace_summary__add(struct trace_summary *summary, const struct trace_line *line);

/*
 * The sums by function, most time first; what is `missing` is not in them, which it
 * says. Calls that did not return are counted, but their time so far is apart:
 * average, percentiles and maximum are of those that did.
 * TRACE_TABLE: a table with a line of totals. TRACE_TSV: a line a function,
 * times in nanoseconds, `-` where there are none; "# lost N", "# before_attach N"
 * and "# library_skipped N" where these are not 0.
 * TRACE_JSON: one object, {"schema":…,"summary":{…}}. The caller looks at ferror(out).
 */
void trace_summary__print(struct trace_summary *summary, const struct trace_missing *missing, enum trace_format format,
			  FILE *out);

#endif
