/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the text report, each in a file of its own: report_NAME__verb is in NAME.c. Some are parts of `gpuprobe stat`
 * and `gpuprobe diagnose` as well. __print writes a section, and nothing where it has nothing to say; __list writes what a
 * section says of one process, without what heads the process.
 */
#ifndef OUTPUT_REPORT_PARTS_H
#define OUTPUT_REPORT_PARTS_H

#include "output/report/text.h"

struct report_totals;

/* Whose the processes are and which GPUs they have; nothing where no process is identified. */
void report_process__print(FILE *out, const struct model *model);

/* The memory section, from num_successful_mallocs on. */
void report_memory__print(FILE *out, const struct model *model, const struct report_totals *totals,
			  const struct report_options *options);

/* By process and kernel, of graphs and host functions. */
void report_launches__print(FILE *out, const struct model *model, const struct report_totals *totals,
			    const struct report_options *options);

/* Copies and sets. */
void report_copies__print(FILE *out, const struct model *model);

/* How long threads were blocked, and in what. */
void report_waits__print(FILE *out, const struct model *model);

/* Streams, events, contexts, modules and libraries. */
void report_objects__print(FILE *out, const struct model *model);

/* Calls that have not returned; nothing where none has lasted for long. */
void report_open_calls__print(FILE *out, const struct model *model);

/* A line for each function. Returns whether there is any. */
bool report_open_calls__list(FILE *out, const struct model *model, const struct process *p);

/* Failed calls. Where launches' results are not looked at, that. */
void report_errors__print(FILE *out, const struct model *model, const struct report_options *options);

/* A line each. */
void report_errors__list(FILE *out, const struct model *model, const struct process *p,
			 const struct report_options *options);

/* Where stacks are taken: of each process and kind of call the call sites that --top shows. */
void report_sites__print(FILE *out, const struct model *model, const struct report_options *options);

void report_sites__list(FILE *out, const struct model *model, const struct process *p,
			const struct report_options *options);

/* What stands before a number of the process that calls of the family are a part of: "~" where it is estimated, or "". */
const char *report_sampling__mark(const struct process *process, enum rate_family family);

/*
 * With --max-overhead, after an empty line: which families are or were sampled, what the probes cost, what the mark means
 * and what has none.
 */
void report_sampling__print(FILE *out, const struct model *model);

/* The start of a process (model/start.h): how long it took, and where the time went. Nothing where it has launched nothing. */
void report_start__print(FILE *out, const struct process *process, uint64_t began_ns);

/* Whether the process has steps (model/steps.h), or has submitted enough to say that nothing repeats. */
bool report_steps__knows(const struct process *process);

/* "412 steps of 72.6 ms (p99 95.1 ms), 377 launches each", or that nothing repeats, or too little is known; without a newline. */
void report_steps__line(FILE *out, const struct process *process);

/* What a process's steps are, what is in each, the slowest. Nothing where there are no submissions. */
void report_steps__print(FILE *out, const struct model *model, const struct process *process);

/*
 * Who waits for whom (finding/verdict.h): the latest VERDICT_SPAN_NS of each process that has been followed for some time,
 * a line each.
 */
void report_verdicts__print(FILE *out, const struct model *model, const struct report_options *options);

/*
 * Leaves in the list what the monitor's report is to tell: the findings of a process whose end has been reported were told
 * with it, and those of several processes when the last of these ended.
 */
void report_findings__select(struct finding_list *list, const struct model *model);

/* The findings at the report's end. */
void report_findings__print(FILE *out, const struct model *model, const struct finding_list *list,
			    const struct report_options *options);

#endif
