/* SPDX-License-Identifier: BSD-2-Clause */
/* Output of `gpuprobe dump`, for people and for programs: what each process is doing now. */
#ifndef OUTPUT_DUMP_DUMP_H
#define OUTPUT_DUMP_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/quantity.h"
#include "model/dump.h"

struct dump_view {
	bool all_frames;	 /* of a stack, one a line */
	bool all;		 /* print every thread separately, without summaries */
	enum quantity_form form; /* of amounts of memory and of times */
	bool on_terminal;	 /* long names are cut in the middle, see output/clip.h */
	/* an earlier dump of the same processes, to mark threads that have not moved; NULL: none */
	const struct dump *before;
};

void dump_text__print(FILE *out, const struct dump *dump, const struct dump_view *view);

/* Prints the threads of one process: a line and a stack for each, and how many others there are. */
void dump_text__print_threads(FILE *out, const struct dump_process *process,
			      const struct dump_view *view);

/* Prints one JSON object on one line, with "schema" 1. */
void dump_json__print(FILE *out, const struct dump *dump, const struct dump_view *view);

#endif
