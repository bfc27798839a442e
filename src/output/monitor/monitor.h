/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor's report by process: one row each, the most important first, then a block for some of
 * them, then findings. Rates cover the time since the previous report; ended processes, and all
 * processes in the last report, have totals.
 *
 * With --memleak, --cudatrace or --bandwidth-util the monitor prints output/report instead.
 */
#ifndef OUTPUT_MONITOR_MONITOR_H
#define OUTPUT_MONITOR_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/quantity.h"
#include "finding/finding.h"
#include "model/model.h"
#include "output/start_line.h"

#define MONITOR_COLUMNS 100	 /* if standard output is no terminal */
#define MONITOR_COLUMNS_LEAST 80 /* narrower terminals wrap lines */

struct monitor_text;

struct monitor_text_options {
	int columns; /* at least MONITOR_COLUMNS_LEAST */
	/* lines with names of kernels and functions are cut to `columns`, the last ones wrapped */
	bool cut_names;
	/*
	 * Blocks, findings and the entries of each list; 0: all. Without `cut` every block has all
	 * its lines. With it, `top` is not used: the report has at most 40 lines for one process,
	 * 60 for up to ten, otherwise 80.
	 */
	unsigned int top;
	bool cut;
	bool full_names; /* of kernels */
	bool all_frames; /* of stacks; the blocks have as many lines as that takes */
	enum quantity_form form;
};

/* NULL without memory. */
struct monitor_text *monitor_text__new(const struct monitor_text_options *options);
void monitor_text__free(struct monitor_text *text); /* NULL ok */

/*
 * The time that totals are of begins, CLOCK_BOOTTIME. The first report's rates are of the time
 * since `model`, which was read when the probes were attached; NULL: since `began_ns`. Returns 0 or
 * -ENOMEM.
 */
int monitor_text__begin(struct monitor_text *text, uint64_t began_ns, const struct model *model);

/*
 * Writes one report, and keeps its counts for the next one's rates. `findings` must be what
 * report_findings__select left; `verdicts` is the history for verdicts, NULL: no verdicts. Leaves
 * out processes whose end was reported. Returns 0, or -ENOMEM: the report is incomplete.
 */
int monitor_text__print(FILE *out, struct monitor_text *text, const struct model *model,
			const struct finding_list *findings, const struct findings *verdicts);

/*
 * Writes the finding in one line without its end: title, process, evidence, cost, call site. Texts
 * of watched processes are escaped.
 */
void monitor_text__finding(FILE *out, const struct model *model, const struct finding *finding);

/* Only what it is about: "process 123 (train), thread 124: cudaMalloc"; nothing if it is all. */
void monitor_text__finding_subject(FILE *out, const struct model *model,
				   const struct finding *finding);

/* What the lines at the start say. */
struct monitor_start {
	struct start_line watched;
	const char *metrics; /* address and port; NULL: no metrics */
};

/* Writes two lines: what is watched and how to end it, and where the metrics are. */
void monitor_text__start(FILE *out, const struct monitor_start *start);

#endif
