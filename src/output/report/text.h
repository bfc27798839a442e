/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report for people: a date line and the chosen sections, between two
 * lines of equals signs.
 */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"

struct report_options {
	unsigned int top;		     /* entries of a list before it is cut; 0: all */
	bool full_names;		     /* kernels by their full demangled names */
	const struct finding_list *findings; /* that the report ends with; NULL: none are drawn */
	const struct findings *verdicts;     /* the history to judge by who waits for whom; NULL: nobody asks */
};

/*
 * Writes one report. Processes with nothing to say in a section are left out
 * of it, those whose end was reported are left out of all. The caller looks at
 * ferror(out).
 */
void report_text__print(FILE *out, const struct model *model, const struct report_options *options);

#endif
