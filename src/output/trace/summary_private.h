/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a summary; for src/output/trace/summary*.c only. */
#ifndef OUTPUT_TRACE_SUMMARY_PRIVATE_H
#define OUTPUT_TRACE_SUMMARY_PRIVATE_H

#include "base/table.h"
#include "output/trace/histogram.h"
#include "output/trace/summary.h"

struct summary_sums {
	uint64_t calls;
	uint64_t errors;
	uint64_t unfinished; /* part of `calls` that `ns`, `min_ns` and `max_ns` exclude */
	uint64_t unfollowed; /* the same, because their return was not followed */
	uint64_t ns;
	uint64_t min_ns, max_ns;
	uint64_t unfinished_ns; /* so far */
};

struct summary_row {
	const struct trace_function *function;
	struct summary_sums sums;
	struct trace_histogram histogram;
	UT_hash_handle hh;
};

struct trace_summary {
	struct summary_row *rows; /* a uthash table in order of first sight */
	struct summary_row *latest;
	bool nested; /* some calls were nested in others: their time is in both */
};

#endif
