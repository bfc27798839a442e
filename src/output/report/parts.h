/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the text report, each in its file: report_NAME__verb is in NAME.c. The monitor's
 * report by process, `gpuprobe stat` and `gpuprobe diagnose` use some of them too. __print writes a
 * section, or nothing if the section is empty. __list writes the part of a section about one
 * process, without the line that heads the process.
 */
#ifndef OUTPUT_REPORT_PARTS_H
#define OUTPUT_REPORT_PARTS_H

#include "output/report/text.h"

struct report_totals;

/* The identity of processes and their GPUs; nothing if no process is identified. */
void report_process__print(FILE *out, const struct model *model);

/* Why less is known about some of its calls, or probes cost it more; lines, or nothing. */
void report_process__notes(FILE *out, const struct model *model, const struct process *process);

/* The memory section, from num_successful_mallocs on. */
void report_memory__print(FILE *out, const struct model *model, const struct report_totals *totals,
			  const struct report_options *options);

/* Launches by process and kernel, of graphs, and host functions. */
void report_launches__print(FILE *out, const struct model *model,
			    const struct report_totals *totals,
			    const struct report_options *options);

/* Copies and sets. */
void report_copies__print(FILE *out, const struct model *model);

/* How long threads were blocked, and in what. */
void report_waits__print(FILE *out, const struct model *model);

/* Streams, events, contexts, modules and libraries. */
void report_objects__print(FILE *out, const struct model *model);

/* Calls that have not returned; nothing if none has been open for long. */
void report_open_calls__print(FILE *out, const struct model *model);

/* Prints a line for each function. Returns whether there is any. */
bool report_open_calls__list(FILE *out, const struct model *model, const struct process *p);

/* Failed calls. If results of launches are not checked, says so. */
void report_errors__print(FILE *out, const struct model *model,
			  const struct report_options *options);

/*
 * If results of launches are not checked, says so after an empty line: no errors must not look like
 * success.
 */
void report_errors__unseen(FILE *out, const struct model *model);

/* Prints one line for each failure. */
void report_errors__list(FILE *out, const struct model *model, const struct process *p,
			 const struct report_options *options);

/* Call sites, if stacks are taken: for each process and kind of call the ones that --top shows. */
void report_sites__print(FILE *out, const struct model *model,
			 const struct report_options *options);

/*
 * The prefix of a number of the process that includes calls of the family: "~" if it is estimated,
 * or "".
 */
const char *report_sampling__mark(const struct process *process, enum rate_family family);

/*
 * With --max-overhead, after an empty line: which families are or were sampled, the cost of the
 * probes, the meaning of the mark and which numbers never have it.
 */
void report_sampling__print(FILE *out, const struct model *model);

/*
 * The start of a process (model/start.h): its duration and where the time went. Prints nothing if
 * the process has launched nothing.
 */
void report_start__print(FILE *out, const struct process *process, uint64_t began_ns,
			 enum quantity_form form);

/*
 * Whether the process has steps (model/steps.h), or has submitted enough to say that nothing
 * repeats.
 */
bool report_steps__knows(const struct process *process);

/*
 * Prints "412 steps of 72.6 ms (p99 95.1 ms), 377 launches each", or that nothing repeats, or that
 * too little is known. Prints no newline.
 */
void report_steps__line(FILE *out, const struct process *process, enum quantity_form form);

/*
 * A process's steps, the content of each, the slowest ones. Prints nothing if there are no
 * submissions.
 */
void report_steps__print(FILE *out, const struct model *model, const struct process *process,
			 enum quantity_form form);

/*
 * Reduces the list to what this report should print. Findings of a process whose end was reported
 * were printed with that report; those of several processes were printed when the last of these
 * ended.
 */
void report_findings__select(struct finding_list *list, const struct model *model);

/* The findings at the end of the report. */
void report_findings__print(FILE *out, const struct model *model, const struct finding_list *list,
			    const struct report_options *options);

#endif
