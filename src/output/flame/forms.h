/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms of a flame graph. Errors of writing are those of the stream
 * (ferror); each returns 0, or -ENOMEM.
 */
#ifndef OUTPUT_FLAME_FORMS_H
#define OUTPUT_FLAME_FORMS_H

#include <stdio.h>
#include <time.h>

#include "output/flame/graph.h"

struct flame_caption {
	const char *title;     /* NULL: what it is of */
	struct timespec begin; /* CLOCK_REALTIME, since when it was watched */
};

/* What limits the graph, a line each: why it is empty, what is not in it, sampled or lost. Nothing where nothing does. */
int flame_notes__print(FILE *out, const struct flame_graph *graph, const struct model *model);

/* A line a stack, "main;grow;cudaMalloc 4096", as flamegraph.pl and its kind read it. */
int flame_folded__print(FILE *out, const struct flame_graph *graph);

/*
 * A picture for a browser, complete in itself: click to zoom, Ctrl-F to search.
 * Frames narrower than a tenth of a pixel are left out, and told.
 */
int flame_svg__print(FILE *out, const struct flame_graph *graph, const struct model *model,
		     const struct flame_caption *caption);

/* A file of https://www.speedscope.app, a profile a process: of a graph made with `processes` and `lines`. */
int flame_speedscope__print(FILE *out, const struct flame_graph *graph, const struct flame_caption *caption);

#endif
