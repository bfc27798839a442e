/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps (model/steps.h) as text. */
#ifndef OUTPUT_REPORT_STEPS_H
#define OUTPUT_REPORT_STEPS_H

#include <stdio.h>

#include "model/model.h"

/* Submissions of a process from which on it is said that nothing repeats. */
#define STEPS_LEAST_SUBMISSIONS 200

/* Whether the process has steps, or has submitted enough to say that nothing repeats. */
bool report_steps__knows(const struct process *process);

/* "412 steps of 72.6 ms (p99 95.1 ms), 377 launches each", or that nothing repeats, or too little is known; without a newline. */
void report_steps__line(FILE *out, const struct process *process);

/* The section of a process: what its steps are, what is in each, the slowest. Nothing where there are no submissions. */
void report_steps__print(FILE *out, const struct model *model, const struct process *process);

#endif
