/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of the model on standard output or in a file: one whenever it is due, unless who
 * reads has not taken the one before, and the last one. What a report says is
 * its owner's.
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
	double interval;     /* seconds between reports; 0: the last one alone */
	unsigned long count; /* then no more; 0: any number */
	bool always_last;    /* the last one is due whatever `count` says, and COMMAND goes on to its end */
	const char *file;    /* to write to in place of standard output; NULL: none */
	bool whole;	     /* each is of all so far: what has ended is in those that follow, too */
	/* The model was read anew: what is to be taken from it before it is shown. Optional. */
	void (*look)(void *arg);
	int (*print)(FILE *out, void *arg); /* 0, or a negative errno: it is not whole and not shown */
	void *arg;
};

/* Between live_model__new and live_model__prepare; the file is emptied. `counting` and `log` must outlive it. 0 or a negative errno. */
int reports__new(struct live_model *live, const struct reports_options *options, const struct log *log,
		 struct reports **out, struct error *err);

/* NULL is fine. Before live_model__free. */
void reports__free(struct reports *reports);

/* Between live_model__prepare and live_model__attach: the time to the first report begins. 0 or a negative errno. */
int reports__start(struct reports *reports, struct error *err);

/*
 * After session__run: writes what is on its way and, if it is due, the last report. 0, also
 * where nobody reads any more, or a negative errno with a line for a person.
 */
int reports__finish(struct reports *reports, struct error *err);

#endif
