/* SPDX-License-Identifier: BSD-2-Clause */
/* The text about traces of the programs' own profilers, which GPU times come from (--kineto). */
#ifndef OUTPUT_STAT_OWN_PROFILE_H
#define OUTPUT_STAT_OWN_PROFILE_H

#include <stdio.h>

#include "output/stat/stat.h"

/* Where the process's times come from, and what that costs: lines below their table. */
void stat_own_profile__print(FILE *out, const struct stat_report *report,
			     const struct gpu_process_times *times);

/* Prints "no GPU times: ...", escaped and without a newline: the trace has not come. */
void stat_own_profile__print_missing(FILE *out, const struct gpu_process_times *times);

/* A line for each process that has been asked and is not in the report, since it made no call. */
void stat_own_profile__print_others(FILE *out, const struct stat_report *report);

#endif
