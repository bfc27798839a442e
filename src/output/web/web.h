/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page for a person with a browser: the data that it asks for, and its files. docs/web.md
 * describes the data. Names go out as JSON strings, raw: the page shows them as text.
 */
#ifndef OUTPUT_WEB_WEB_H
#define OUTPUT_WEB_WEB_H

#include <stdio.h>

#include "finding/finding.h"
#include "model/model.h"
#include "model/process_rates.h"
#include "output/web/history.h"

#define WEB_SCHEMA 1	  /* raised when a key changes its meaning or is removed */
#define WEB_PROCESSES 200 /* of an overview; the metrics have all */
#define WEB_FINDINGS 100
#define WEB_KERNELS 50 /* of a process */
#define WEB_SITES 30

/* The latest reading, and what is known of those before. */
struct web_view {
	const char *version;	      /* of gpuprobe */
	const char *watched;	      /* "the whole machine" */
	uint64_t began_ns;	      /* CLOCK_BOOTTIME since when it is watched */
	const struct findings *state; /* for verdicts */
	bool profile;		      /* calls are profiled, so that idle time can be proved */
	const struct model *model;
	const struct finding_list *findings; /* detected in the model */
	const struct process_rates *rates;   /* with the model as their latest sample */
	const struct history *history;
};

/*
 * Write the data as one JSON object. The first lists at most WEB_PROCESSES processes, those with
 * the most memory first. Errors are those of the stream. 0 or -ENOMEM.
 */
int web_overview__print(FILE *out, const struct web_view *view);
int web_history__print(FILE *out, const struct web_view *view);

/* Writes what is known of one process of the model, as JSON. */
int web_process__print(FILE *out, const struct web_view *view, const struct process *process);

/* Writes the flame graph of its live device memory as SVG. 0 or -ENOMEM. */
int web_flame__print(FILE *out, const struct web_view *view, const struct process *process);

/* --- files --- */

struct web_file {
	const char *path; /* "/web/page.js" */
	const char *content_type;
	const char *text, *end;
};

/* The embedded file that is served at the path; NULL if there is none. */
const struct web_file *web_files__find(const char *path);

#endif
