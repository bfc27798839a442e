/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings as people and programs read them, and what there is to know about
 * each kind. Subjects, evidence and names come from watched processes: they are escaped.
 */
#ifndef OUTPUT_FINDING_FINDINGS_H
#define OUTPUT_FINDING_FINDINGS_H

#include <stdio.h>

#include "base/json.h"
#include "finding/finding.h"

const char *findings_text__severity_word(enum finding_severity severity); /* "warning" */

/*
 * "findings: 1 critical, 2 warnings", and each in a few lines after an empty one, worst first as the
 * list is, which was drawn from the model; `top` of them, 0: all. "no findings" where there are none.
 */
void findings_text__print(FILE *out, const struct model *model, const struct finding_list *list, unsigned int top);

/* Whether it prints the reasons of the process's threads (output/finding/reasons.h) with one of its findings. */
bool findings_text__has_reasons(const struct finding_list *list, unsigned int top, const struct process *process);

/*
 * After an empty line each: what was not looked for, and what to do that it is; what was followed for too
 * short a time to be judged. Nothing where there is nothing to say.
 */
void findings_text__limits(FILE *out, const struct findings *findings, const struct finding_list *list);

/* What a kind means, its advice and thresholds. */
void findings_text__explain(FILE *out, const struct finding_kind *kind);

/* A table of all kinds with their severities and thresholds. */
void findings_text__list(FILE *out);

/* The key "findings": an array, worst first. */
void json_findings__write(struct json *j, const struct finding_list *list);

/* The keys "not_looked_for", an array of ids, and "not_judged": an array of what was followed for too short a time. */
void json_findings__write_limits(struct json *j, const struct findings *findings, const struct finding_list *list);

/* The key "thresholds": those in use, by id and name. */
void json_findings__write_thresholds(struct json *j, const struct findings *findings);

/* A line that names what was not looked for, since calls are sampled; nothing where nothing is. An empty line before it. */
void findings_text__print_sampled(FILE *out, const struct finding_list *list);

#endif
