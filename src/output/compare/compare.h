/* SPDX-License-Identifier: BSD-2-Clause */
/* What `gpuprobe diff` prints: a comparison (compare/compare.h) and the results of a budget. */
#ifndef OUTPUT_COMPARE_H
#define OUTPUT_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

#include "compare/budget.h"
#include "base/quantity.h"
#include "compare/compare.h"

#define COMPARE_JSON_SCHEMA "gpuprobe.diff/1"

/* Either part may be missing. */
struct compare_report {
	const struct comparison *comparison; /* NULL: only one run was given */
	const struct compared_run *run;	     /* which the budget was checked for */
	const struct budget_result *limits;
	size_t limit_count;	 /* 0: no budget was given */
	bool full_names;	 /* of kernels, in text */
	enum quantity_form form; /* of amounts in text */
};

/* `all`: every difference and limit; else about 40 lines. */
void compare_text__print(FILE *out, const struct compare_report *report, bool all);

/* The part of the above about the comparison. */
void compare_text__print_comparison(FILE *out, const struct compare_report *report, bool all);

void compare_json__print(FILE *out, const struct compare_report *report);

/* An amount in its unit: "20", "1.50", "7.6 MiB", "310 us"; exact: "7,969,178 bytes". */
struct quantity compare_text__amount(enum quantity_form form, enum figure_unit unit, double amount);

#endif
