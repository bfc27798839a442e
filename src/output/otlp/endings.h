/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The series of processes that have ended, so that their end can be marked once they are no longer
 * sent. The memory is bounded: beyond it, series end without a mark.
 */
#ifndef OUTPUT_OTLP_ENDINGS_H
#define OUTPUT_OTLP_ENDINGS_H

#include "output/otlp/data.h"

#define OTLP_ENDINGS_MAX (8u << 20) /* bytes */

struct otlp_ending {
	struct otlp_ending *next;
	struct process *process; /* what its resource has of it */
	struct otlp_data data;	 /* all points are of the process */
	size_t bytes;
};

/* Begins as zeros. */
struct otlp_endings {
	struct otlp_ending *first;
	size_t bytes;
};

void otlp_endings__free(struct otlp_endings *endings);

/*
 * Keeps the series from the point `first` on, in place of what was kept of the process. Texts of
 * metrics are not copied. Without memory or room, nothing is kept.
 */
void otlp_endings__keep(struct otlp_endings *endings, const struct process *process,
			const struct otlp_data *data, size_t first);

void otlp_endings__remove(struct otlp_endings *endings, struct otlp_ending *ending);

#endif
