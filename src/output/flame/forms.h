/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms of a flame graph. Each function returns 0 or -ENOMEM. Write errors show on the stream
 * (ferror).
 */
#ifndef OUTPUT_FLAME_FORMS_H
#define OUTPUT_FLAME_FORMS_H

#include <stdio.h>
#include <time.h>

#include "output/flame/graph.h"

struct flame_caption {
	const char *title;     /* NULL: a default by the graph's weights */
	struct timespec begin; /* CLOCK_REALTIME, when watching began */
};

/*
 * Prints the graph's limits, one a line: why it is empty, and what is missing, sampled or lost.
 * Prints nothing if there are none.
 */
int flame_notes__print(FILE *out, const struct flame_graph *graph, const struct model *model);

/*
 * Prints one line a stack, "main;grow;cudaMalloc 4096", the input format of flamegraph.pl and
 * similar tools.
 */
int flame_folded__print(FILE *out, const struct flame_graph *graph);

/*
 * Prints a self-contained picture for a browser: click to zoom, Ctrl-F to search. Frames narrower
 * than a tenth of a pixel are left out, and a note says so.
 */
int flame_svg__print(FILE *out, const struct flame_graph *graph, const struct model *model,
		     const struct flame_caption *caption);

/*
 * Prints a file for https://www.speedscope.app with one profile a process. The graph must have been
 * made with `processes` and `lines`.
 */
int flame_speedscope__print(FILE *out, const struct flame_graph *graph,
			    const struct flame_caption *caption);

#endif
