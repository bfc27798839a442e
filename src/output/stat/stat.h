/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `gpuprobe stat` and `gpuprobe diagnose` say: the profile of a run and
 * what is wrong in it. JSON is the same for both.
 */
#ifndef OUTPUT_STAT_STAT_H
#define OUTPUT_STAT_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"
#include "output/report/text.h"

/* Of the JSON: its number is raised when a key changes its meaning or goes; new keys may come without. */
#define STAT_JSON_SCHEMA "gpuprobe.stat/1"

struct stat_report {
	const struct model *model;
	uint64_t began_ns; /* when the probes were in, CLOCK_BOOTTIME */
	const struct findings *state;
	const struct finding_list *findings;
	const struct report_options *options;
	bool getters;	      /* calls that only ask are probed: chatty-getters is looked for */
	unsigned long number; /* of the report in this run, from 0 */
};

/* The profile of all processes and the findings, as people read them. */
void stat_text__print(FILE *out, const struct stat_report *report);

/*
 * The tables as comma-separated values (RFC 4180, but for lines that end with a newline alone). The
 * first column of each line is its table's name, also of the line with the names of the columns,
 * which stands before the first rows that a run has of it. Control characters are escaped, so that
 * a row is a line.
 */
void stat_csv__print(FILE *out, const struct stat_report *report);

/* The findings alone, and what limits them. */
void diagnose_text__print(FILE *out, const struct stat_report *report);

/* One JSON object on a line. */
void stat_json__print(FILE *out, const struct stat_report *report);

#endif
