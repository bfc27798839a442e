/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report for programs: one JSON object on a line of its own, with the
 * numbers of the text report. Lists are not cut, names are not shortened, and
 * text that is no UTF-8 has U+FFFD in the place of the bad bytes.
 */
#ifndef OUTPUT_JSON_REPORT_H
#define OUTPUT_JSON_REPORT_H

#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"

/*
 * The value of "schema". It is raised when a key changes its meaning or goes;
 * new keys may come without.
 */
#define REPORT_JSON_SCHEMA 1

/*
 * Writes one report, newline included, with these findings; NULL: none are drawn. By `verdicts`, the history, each process
 * has its verdict of the latest minute; NULL: it has none. The caller looks at ferror(out).
 */
void report_json__print(FILE *out, const struct model *model, const struct finding_list *findings,
			const struct findings *verdicts);

#endif
