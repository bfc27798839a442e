/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints reports of the model to standard output or a file: one whenever it is due, unless the
 * reader has not taken the previous one, and the last one. The owner prints a report's content.
 */
#ifndef CLI_REPORTS_H
#define CLI_REPORTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/session/live_model.h"

struct reports;

struct reports_options {
	double interval;     /* seconds between reports; 0: only the last one */
	unsigned long count; /* maximum number of reports; 0: no limit */
	/* print the last report whatever `count` is, and let COMMAND run to its end */
	bool always_last;
	const char *file; /* output file; NULL: standard output */
	/* each report covers everything so far: ended processes stay in later reports */
	bool whole;
	/* Called after each update, before the report is printed. Optional. */
	void (*look)(void *arg);
	/* 0, or a negative errno: the report is incomplete and is not shown */
	int (*print)(FILE *out, void *arg);
	void *arg;
};

/*
 * Call it between live_model__new and live_model__prepare. Truncates the file. `live` and `log`
 * must outlive it. Returns 0 or a negative errno.
 */
int reports__new(struct live_model *live, const struct reports_options *options,
		 const struct log *log, struct reports **out, struct error *err);

/* Call it before live_model__free. NULL ok. */
void reports__free(struct reports *reports);

/*
 * Call it after live_model__attach, and live_model__expect_reports before: the time to the first
 * report begins. Returns 0 or a negative errno.
 */
int reports__start(struct reports *reports, struct error *err);

/*
 * Call it after session__run. Writes pending output and, if it is due, the last report. Returns 0,
 * also if the reader has gone, or a negative errno with a message.
 */
int reports__finish(struct reports *reports, struct error *err);

#endif
