/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor's OTLP: metrics at an interval and findings as log records, --otlp-endpoint and the
 * OTEL_* variables.
 *
 * Call order: new, while gpuprobe still has all its privileges; begin, once the probes are
 * attached; look and finish; free. All but new and free take NULL, and do nothing then.
 */
#ifndef CLI_COMMANDS_OTLP_H
#define CLI_COMMANDS_OTLP_H

#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "export/counts.h"
#include "finding/finding.h"
#include "model/model.h"
#include "output/metrics/metrics.h"

struct event_base;
struct otlp_export;
struct session;

struct otlp_export_options {
	const char *endpoint; /* the option; NULL: not given */
	/* for the pages that OTLP's metrics are made of; `by` and `exports` do not matter */
	struct metrics_options metrics;
	/*
	 * Brings the model and the list of findings up to date. Returns 0, or a negative errno:
	 * nothing is sent this time.
	 */
	int (*update)(void *arg);
	const struct finding_list *findings;
	void *arg;
};

/*
 * *out is NULL if nothing is to be sent. Returns 0 or a negative errno with a message: -EINVAL if
 * the option is given, and it or a variable is wrong. Without the option, variables are perhaps
 * meant for another program: a fault in them is a warning, and nothing is sent. `log` must outlive
 * it.
 */
int otlp_export__new(const struct otlp_export_options *options, const struct log *log,
		     struct otlp_export **out, struct error *err);

/* What became of the data, by signal; up to date after otlp_export__count. NULL: there is none. */
const struct export_counts *otlp_export__counts(const struct otlp_export *otlp);
void otlp_export__count(struct otlp_export *otlp);

/* Starts sending. The model stays the same object. Returns 0 or a negative errno with a message. */
int otlp_export__begin(struct otlp_export *otlp, struct event_base *loop, const struct model *model,
		       struct error *err);

/* Writes a line for each signal: where it goes. */
void otlp_export__describe(FILE *out, const struct otlp_export *otlp);

/* Sends what has changed in the findings, which are up to date. */
void otlp_export__look(struct otlp_export *otlp);

/* Writes what was lost so far; nothing if nothing was. */
void otlp_export__print_losses(FILE *out, struct otlp_export *otlp);

/*
 * Sends the last metrics of the model as it is, waits for the receiver a while, reports losses.
 * Meanwhile the session, if it has run, holds no process, and a signal ends gpuprobe.
 */
void otlp_export__finish(struct otlp_export *otlp, struct session *session);

void otlp_export__free(struct otlp_export *otlp);

#endif
