/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of `gpuprobe stat` and `gpuprobe diagnose`: the profile of a run and its findings. Both
 * have the same JSON.
 */
#ifndef OUTPUT_STAT_STAT_H
#define OUTPUT_STAT_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "finding/finding.h"
#include "model/gpu_times.h"
#include "model/model.h"
#include "model/nvtx_ranges.h"
#include "output/report/text.h"

/*
 * The JSON's "schema". Its number is raised when a key changes its meaning or is removed; new keys
 * do not raise it.
 */
#define STAT_JSON_SCHEMA "gpuprobe.stat/1"

#define STAT_WIDTH 100 /* columns of lines that do not go to a terminal */

struct stat_report {
	const struct model *model;
	uint64_t began_ns; /* when the probes were attached, CLOCK_BOOTTIME */
	const struct findings *state;
	const struct finding_list *findings;
	const struct report_options *options;
	const struct gpu_times *gpu_times; /* NULL: not asked for */
	bool gpu_graph_nodes;		   /* kernels in graphs have GPU times, graphs have none */
	/* the kernels with the most GPU time follow the verdict: no table has them */
	bool gpu_work;
	const struct nvtx_ranges *ranges; /* NULL: not asked for */
	bool getters;			  /* getters are probed, so chatty-getters is checked */
	unsigned long number;		  /* of the report in this run, from 0 */
	unsigned int width; /* of the terminal in columns; 0: none, and names are not cut */
};

/* Columns of the lines for people: the terminal's, at least 80; without a terminal STAT_WIDTH. */
unsigned int stat__width(const struct stat_report *report);

/* Prints the profile of all processes and the findings, for people. */
void stat_text__print(FILE *out, const struct stat_report *report);

/*
 * Prints the tables as comma-separated values (RFC 4180, except that lines end with a newline
 * only). The first column of each line is its table's name. The line with the column names precedes
 * a table's first rows in a run and has the table's name too. Control characters are escaped, so
 * that a row is one line.
 */
void stat_csv__print(FILE *out, const struct stat_report *report);

/* --- the same, each table by itself: without the first column --- */

#define STAT_CSV_TABLES 10

/* The table's name; `table` counts from 0. */
const char *stat_csv__table(size_t table);

/* Prints the line with the column names. */
void stat_csv__print_names(FILE *out, size_t table);

/* Prints the column names and the rows. */
void stat_csv__print_table(FILE *out, const struct stat_report *report, size_t table);

/* Prints only the findings and their limits. */
void diagnose_text__print(FILE *out, const struct stat_report *report);

/* Prints one JSON object on one line. */
void stat_json__print(FILE *out, const struct stat_report *report);

#endif
