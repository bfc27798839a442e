/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metrics page. It keeps a little state of its own between two pages: what
 * has been told of which kernel (output/metrics/kernel_series.h) and of which finding
 * (output/metrics/finding_series.h).
 */
#ifndef OUTPUT_METRICS_METRICS_H
#define OUTPUT_METRICS_METRICS_H

#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"
#include "output/metrics/exposition.h"

struct metrics_options {
	unsigned int kernels;		 /* a process's kernels with a series of their own */
	const char *version;		 /* of gpuprobe; must outlive the metrics */
	const struct findings *verdicts; /* the history to judge by who waits for whom, where a profile is kept; NULL: nobody asks */
};

struct metrics;

/* NULL when out of memory. */
struct metrics *metrics__new(const struct metrics_options *options);
void metrics__free(struct metrics *metrics);

/*
 * Writes the page: the families of the model's sections, errors, losses and
 * gpuprobe itself. All processes of the model are in it, ended ones too; of
 * several with one pid only the newest. `findings` are those drawn of the
 * model; NULL: there are no families of them. 0, -ENOMEM, or -EIO when a write to
 * `out` failed; then the page is no good.
 */
int metrics__render(struct metrics *metrics, FILE *out, const struct model *model,
		    const struct finding_list *findings, enum exposition form);

#endif
