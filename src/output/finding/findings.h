/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings as text and JSON, and descriptions of their kinds. Subjects, evidence and names come
 * from watched processes, so they are escaped.
 */
#ifndef OUTPUT_FINDING_FINDINGS_H
#define OUTPUT_FINDING_FINDINGS_H

#include <stdio.h>

#include "base/json.h"
#include "base/quantity.h"
#include "finding/finding.h"
#include "output/report/text.h"

const char *findings_text__severity_word(enum finding_severity severity); /* "warning" */

/*
 * Whether an earlier finding of the list, about a thread with a higher cost, represents this one.
 * Such a finding is not printed.
 */
bool findings_text__is_reported_before(const struct finding_list *list, size_t index);

/* Prints "findings: 1 critical, 2 warnings", without those represented by others. */
void findings_text__print_counts(FILE *out, const struct finding_list *list);

/*
 * Prints "findings: 1 critical, 2 warnings", then each finding in a few lines after an empty one,
 * in the order of the list, worst first. The list was evaluated from the model. The options limit
 * their number and say how stacks are printed. In the exact form, each finding has a line with its
 * numbers. Prints "no findings" if the list is empty.
 */
void findings_text__print(FILE *out, const struct model *model, const struct finding_list *list,
			  const struct report_options *options);

/*
 * Writes the finding's numbers, whole, by their names in the JSON: "exact: allocations=1,000,
 * size=1,073,741,824 bytes".
 */
void findings_text__write_numbers(FILE *out, const struct finding *finding);

/* A number of a finding or a threshold. Counts, shares and ratios have one form. */
struct quantity findings_text__number(enum quantity_form form, double value,
				      enum finding_unit unit);

/*
 * Whether findings_text__print prints the reasons of the process's threads
 * (output/finding/reasons.h) with one of its findings.
 */
bool findings_text__has_reasons(const struct finding_list *list, unsigned int top,
				const struct process *process);

/*
 * Prints which kinds were not checked and how to enable them, and which were not judged because the
 * observation was too short. An empty line comes before each. Prints nothing if there are no
 * limits. `width` is for wrap__width.
 */
void findings_text__limits(FILE *out, const struct findings *findings,
			   const struct finding_list *list, size_t width);

/* Prints the meaning of a kind, its advice and its thresholds. */
void findings_text__explain(FILE *out, const struct finding_kind *kind);

/* Prints a table of all kinds with their severities and thresholds. */
void findings_text__list(FILE *out);

/* Writes the key "findings": an array, worst first. */
void json_findings__write(struct json *j, const struct finding_list *list);

/*
 * Writes the keys "not_looked_for", an array of ids, and "not_judged", an array of the kinds that
 * were observed for too short a time.
 */
void json_findings__write_limits(struct json *j, const struct findings *findings,
				 const struct finding_list *list);

/* Writes the key "thresholds": the thresholds in use, by id and name. */
void json_findings__write_thresholds(struct json *j, const struct findings *findings);

/*
 * Prints an empty line and a line that names the kinds skipped because calls are being sampled.
 * Prints nothing if there are none. `width` is for wrap__width.
 */
void findings_text__print_sampled(FILE *out, const struct finding_list *list, size_t width);

#endif
