/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The main page of `gpuprobe top`: a summary, what was lost, the GPUs, and the table of processes.
 * And what each page has in its last line.
 */
#ifndef OUTPUT_TOP_TABLE_H
#define OUTPUT_TOP_TABLE_H

#include <stdio.h>

#include "finding/finding.h"
#include "output/top/list.h"
#include "output/top/page.h"
#include "output/top/view.h"

struct top_scene {
	const struct model *model;
	const struct top_list *list;
	const struct findings *findings; /* for the verdicts; NULL: none */
	const struct top_view *view;
	const char *only;  /* --comm and the like, as given; empty: every process */
	uint64_t left_out; /* processes that make CUDA calls and do not match them */
	int width;
	size_t height; /* lines for the page; 0: as many as it takes */
};

/* Whether all GPUs share one line. */
bool top_table__folds_gpus(const struct top_scene *scene);

/* The rows of the table that the height leaves room for. */
size_t top_table__rows(const struct top_scene *scene);

/*
 * Adds the page, with the rows from view->first on. Call top_view__settle before it. 0 or -ENOMEM.
 */
int top_table__add(struct top_page *page, const struct top_scene *scene);

/*
 * Writes the last line: what is being typed, a mistake in it, the message (NULL: none), or the
 * keys.
 */
void top_table__bottom(FILE *out, const struct top_view *view, const char *message);

/* Adds the page that explains keys and columns. 0 or -ENOMEM. */
int top_help__add(struct top_page *page);

#endif
