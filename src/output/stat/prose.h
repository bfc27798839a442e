/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sentences of the text of `gpuprobe stat` and `gpuprobe diagnose`, wrapped to the width of the
 * report: functions that know no width write into `text`.
 */
#ifndef OUTPUT_STAT_PROSE_H
#define OUTPUT_STAT_PROSE_H

#include <stdio.h>

#include "output/stat/stat.h"

struct stat_prose {
	FILE *out; /* of the report */
	char *buffer;
	size_t length;
};

/* Where to write, until stat_prose__end. Without memory that is `out`, and nothing is wrapped. */
FILE *stat_prose__begin(struct stat_prose *prose, FILE *out);

/*
 * Prints what was written to `text`, which stat_prose__begin has returned: whole lines. A line that
 * does not fit goes on two columns further to the right.
 */
void stat_prose__end(struct stat_prose *prose, FILE *text, const struct stat_report *report);

#endif
