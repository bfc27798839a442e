/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metrics page. It keeps some state between two pages: the reported values of kernels
 * (output/metrics/kernel_series.h) and of findings (output/metrics/finding_series.h).
 */
#ifndef OUTPUT_METRICS_METRICS_H
#define OUTPUT_METRICS_METRICS_H

#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"
#include "output/metrics/exposition.h"
#include "output/metrics/process_groups.h"

struct metrics_options {
	unsigned int kernels; /* kernels of a process or group that get their own series */
	enum metrics_by by;
	const char *version; /* of gpuprobe; must outlive the metrics */
	/* history for the verdicts of processes with a profile; NULL: no verdicts */
	const struct findings *verdicts;
	/* what became of data for OTLP, by signal, up to date for each page; NULL: there is none */
	const struct export_counts *exports;
};

struct metrics;

/* NULL without memory. */
struct metrics *metrics__new(const struct metrics_options *options);
void metrics__free(struct metrics *metrics);

/*
 * Takes a reading into the account of jobs, which the page shows; metrics__render does so, too.
 * Returns 0, or -ENOMEM: the next reading stands for both.
 */
int metrics__account(struct metrics *metrics, const struct model *model);

/*
 * Writes the page: the families of the model's sections, errors, losses and gpuprobe itself. It has
 * all processes of the model, including ended ones; of several with one pid only the newest.
 * `findings` are those detected in the model; NULL: their families are left out. Returns 0,
 * -ENOMEM, or -EIO if a write to `out` failed; after an error the page is unusable.
 */
int metrics__render(struct metrics *metrics, FILE *out, const struct model *model,
		    const struct finding_list *findings, enum exposition form);

/*
 * Gives the same families and samples to the visitor. The metrics must be by process. Returns 0 or
 * -ENOMEM: some are missing then.
 */
int metrics__visit(struct metrics *metrics, const struct exposition_visitor *visitor,
		   const struct model *model, const struct finding_list *findings);

#endif
