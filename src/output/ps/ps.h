/* SPDX-License-Identifier: BSD-2-Clause */
/* Output of `gpuprobe ps`: a table for people, and JSON with everything. */
#ifndef OUTPUT_PS_PS_H
#define OUTPUT_PS_PS_H

#include <stdio.h>

#include "base/quantity.h"
#include "model/ps.h"

/*
 * Prints the GPUs, a row for each process, and the notes, in `columns` columns; 0: as many as it
 * takes, and nothing is cut. `form` is that of amounts of memory. man/gpuprobe-ps.8 describes it.
 */
void ps_text__print(FILE *out, const struct ps *ps, enum quantity_form form, int columns);

/* Prints one JSON object on one line, with "schema" 1. */
void ps_json__print(FILE *out, const struct ps *ps);

/* "running"; NULL for PS_UNKNOWN. */
const char *ps_words__state(enum ps_state state);

/* "cudart"; as in the text, but for the driver, "libcuda". */
const char *ps_words__library(enum ps_library_kind kind);

#endif
