/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the monitor's report, each in its file: monitor_NAME__verb is in NAME.c. A part
 * writes whole lines; text.c counts them and puts the parts in order.
 */
#ifndef OUTPUT_MONITOR_PARTS_H
#define OUTPUT_MONITOR_PARTS_H

#include "base/quantity.h"
#include "finding/verdict.h"
#include "output/monitor/monitor.h"

/* --- counts: what a process has done --- */

/* Waits by scope, then those in synchronous copies and in frees. */
enum monitor_wait {
	MONITOR_WAIT_COPIES = WAIT_SCOPES,
	MONITOR_WAIT_FREES,
	MONITOR_WAITS,
};

struct monitor_counts {
	uint64_t ns; /* the moment, or the time between two moments */
	uint64_t launches, copies;
	uint64_t graph_launches; /* part of `launches` */
	uint64_t copy_bytes[COPY_KINDS];
	uint64_t wait_ns[MONITOR_WAITS];
	uint64_t live_bytes; /* memory on devices; the latest, also of a difference */
};

uint64_t monitor_counts__wait_ns(const struct monitor_counts *counts);

/* `count` per second of the time in `counts`; 0 if that is 0. */
double monitor_counts__rate(const struct monitor_counts *counts, uint64_t count);

/* --- history: the counts at the previous report --- */

#define MONITOR_KERNELS 32 /* per process, those launched most: their rates are known */

struct monitor_kept;
struct monitor_history;

/* NULL without memory. */
struct monitor_history *monitor_history__new(void);
void monitor_history__free(struct monitor_history *history);
void monitor_history__begin(struct monitor_history *history, uint64_t began_ns);

/* When the previous report was, or the probes were attached. */
uint64_t monitor_history__since_ns(const struct monitor_history *history);

/* What is kept of the process; NULL: the previous report did not have it. */
const struct monitor_kept *monitor_history__find(const struct monitor_history *history,
						 const struct process *process);

/*
 * The process's increase since the previous report, or with `totals` since it began to be watched.
 * `kept` may be NULL. *change is the increase of live memory.
 */
void monitor_history__increase(const struct monitor_history *history,
			       const struct monitor_kept *kept, const struct model *model,
			       const struct process *process, bool totals,
			       struct monitor_counts *increase, double *change);

/*
 * The kernel's launches since the previous report. False: unknown, since the kernel was not among
 * those kept.
 */
bool monitor_history__launches(const struct monitor_kept *kept, const struct kernel *kernel,
			       uint64_t *launches);

/* Keeps the counts of all processes for the next report, and no others. 0 or -ENOMEM. */
int monitor_history__keep(struct monitor_history *history, const struct model *model);

/* --- rows --- */

struct monitor_row {
	const struct process *process;
	const struct monitor_kept *kept;
	struct monitor_counts counts; /* see monitor_history__increase */
	double change;
	bool totals;
	const struct finding *worst; /* NULL: no finding */
};

struct monitor_rows {
	struct monitor_row *items; /* running processes first, the most important of them first */
	size_t count, ended;
};

/* 0 or -ENOMEM; release with free(rows->items). */
int monitor_rows__make(const struct monitor_history *history, const struct model *model,
		       const struct finding_list *findings, struct monitor_rows *rows);

/* What a part needs. */
struct monitor_page {
	const struct monitor_text_options *options;
	const struct model *model;
	const struct finding_list *findings;
	const struct findings *verdicts;
	const struct monitor_rows *rows;
	uint64_t since_ns; /* begin of the time that rates are of */
};

/* --- parts --- */

/* The date, the number of processes, the GPUs. */
void monitor_head__print(FILE *out, const struct monitor_page *page);

/* The rows, up to a limit, and the sum of the others. 0 or -ENOMEM. */
int monitor_table__print(FILE *out, const struct monitor_page *page);

#define MONITOR_INDENT 12 /* of what a block says, behind its labels */

/* All about one process, after an empty line. */
void monitor_block__print(FILE *out, const struct monitor_page *page,
			  const struct monitor_row *row);

/* The kernels of a process, a line each, and graphs. */
void monitor_kernels__write(FILE *out, const struct monitor_page *page,
			    const struct monitor_row *row);

/* Where live memory was allocated, with stacks; all call sites if the block is not cut. */
void monitor_sites__write(FILE *out, const struct monitor_page *page,
			  const struct monitor_row *row);

/* The findings with their advice, after an empty line; nothing without findings. */
void monitor_findings__print(FILE *out, const struct monitor_page *page);

/* --- lines --- */

/* The entries of a list of `count` to show: `few`, unless the user has asked for more. */
size_t monitor_line__shown(const struct monitor_page *page, size_t count, size_t few);

/*
 * A text that is collected and then written within the page's width, behind a label, which may be
 * empty: its lines begin with `indent` blanks. What it has of a watched process must be escaped.
 */
struct monitor_words {
	FILE *out;
	char *text;
	size_t length;
};

/* The stream to write the text to; NULL without memory, and there is nothing to end then. */
FILE *monitor_words__begin(struct monitor_words *words);

/* Ends the text and wraps it. `lines` limits its lines; 0: all. An empty text is not written. */
void monitor_words__wrap(struct monitor_words *words, FILE *out, const struct monitor_page *page,
			 const char *label, int indent, size_t lines);

/* The same for lines of output/report, whose indentation is left out: wraps each of them. */
void monitor_words__lines(struct monitor_words *words, FILE *out, const struct monitor_page *page,
			  const char *label, int indent);

/* Ends the text and, with cut_names, cuts each of its lines. */
void monitor_words__list(struct monitor_words *words, FILE *out, const struct monitor_page *page,
			 const char *label, int indent);

/* The name of the program, with the script if it is an interpreter's: "python3 train.py". Raw. */
#define MONITOR_COMMAND_SIZE 160
void monitor_line__command(const struct process *process, char text[MONITOR_COMMAND_SIZE]);

#define MONITOR_GPUS_SIZE 32
/* "0", "0,1", "8 GPUs", "cuda:0" if only CUDA's number is known, "-". */
void monitor_line__gpus(const struct model *model, const struct process *process,
			char text[MONITOR_GPUS_SIZE]);

/* "0", "1.5/s", "12.3 k/s" */
struct quantity monitor_line__rate(enum quantity_form form, double per_second);

#endif
