/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `gpuprobe stat` and `gpuprobe diagnose` say: the account of a run and
 * what is wrong in it. JSON is the same for both.
 */
#ifndef OUTPUT_STAT_H
#define OUTPUT_STAT_H

#include <stdint.h>
#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"
#include "output/report_text.h"

/* Of the JSON: its number is raised when a key changes its meaning or goes; new keys may come without. */
#define STAT_JSON_SCHEMA "gpuprobe.stat/1"

struct stat_report {
	const struct model *model;
	uint64_t began_ns; /* when the probes were in, CLOCK_BOOTTIME */
	const struct findings *state;
	const struct finding_list *findings;
	const struct report_options *options;
};

/* One JSON object on a line. */
void stat_json__print(FILE *out, const struct stat_report *report);

#endif
