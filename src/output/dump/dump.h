/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes are in, now, for people and for programs: the output of `gpuprobe dump`. */
#ifndef OUTPUT_DUMP_DUMP_H
#define OUTPUT_DUMP_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "model/dump.h"

struct dump_view {
	bool native;		   /* all frames of a stack, a line each */
	bool all;		   /* every thread by itself, none summed up */
	const struct dump *before; /* an earlier one of the same processes: its threads that have not moved are marked; NULL: none */
};

void dump_text__print(FILE *out, const struct dump *dump, const struct dump_view *view);

/* One JSON object, on one line, of "schema" 1. */
void dump_json__print(FILE *out, const struct dump *dump, const struct dump_view *view);

#endif
