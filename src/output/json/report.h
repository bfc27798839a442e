/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report for programs: one JSON object a line, with the numbers of the text report. Lists are
 * not cut and names are not shortened. In text that is not UTF-8, U+FFFD replaces each bad byte.
 */
#ifndef OUTPUT_JSON_REPORT_H
#define OUTPUT_JSON_REPORT_H

#include <stdio.h>

#include "export/counts.h"
#include "finding/finding.h"
#include "model/model.h"

/*
 * The value of "schema". It is raised when a key changes its meaning or is removed; new keys do not
 * raise it.
 */
#define REPORT_JSON_SCHEMA 1

/*
 * Writes one report, including the newline. `findings` are written with it; NULL: there are none
 * because they are not evaluated. `verdicts` is the history by which each process gets its verdict
 * for the latest minute; NULL: no verdicts. `exports` says what became of data for OTLP, by signal;
 * NULL: none is sent. The caller checks ferror(out).
 */
void report_json__print(FILE *out, const struct model *model, const struct finding_list *findings,
			const struct findings *verdicts, const struct export_counts *exports);

#endif
