/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the monitor, stat, diagnose, memleak and flame have in common: counting, reports of the model while programs
 * run, and samples of it. They are set up in the order that privileges ask for.
 *
 * In this order: new, attach, until_end, free. Between new and attach gpuprobe still has all privileges that it was
 * started with: the owner opens there what needs them.
 */
#ifndef CLI_SESSION_LIVE_RUN_H
#define CLI_SESSION_LIVE_RUN_H

#include "cli/session/live_model.h"
#include "cli/session/reports.h"
#include "cli/session/samples.h"

struct live_run {
	struct live_model *live;		/* for the owner as well */
	struct reports *reports;		/* NULL: none */
	struct samples *samples;		/* NULL: none */
	struct samples_options samples_options; /* for attach */
};

struct live_run_options {
	struct live_model_options live;
	struct reports_options reports; /* without `print` there are none: the owner shows the model itself */
	struct samples_options samples; /* with a period of 0 none are taken */
};

/*
 * Starts the session and opens the file of the reports. `log` must outlive the run. This and the next two return 0, or a
 * negative errno with a line for a person.
 */
int live_run__new(const struct live_run_options *options, const struct log *log, struct live_run **out,
		  struct error *err);

/* Gives up privileges, loads the BPF object and puts the probes in: counting begins. */
int live_run__attach(struct live_run *run, struct error *err);

/* Runs until the session ends, and writes the last report. */
int live_run__until_end(struct live_run *run, struct error *err);

/* See session__status. */
int live_run__status(const struct live_run *run);

/* NULL is fine. Takes the probes out and lets everybody go on. */
void live_run__free(struct live_run *run);

#endif
