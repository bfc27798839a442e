/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the text of `gpuprobe ps`, each in its file: ps_NAME__verb is in NAME.c. */
#ifndef OUTPUT_PS_PARTS_H
#define OUTPUT_PS_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/quantity.h"
#include "model/ps.h"

/* Lines about the driver and each GPU. */
void ps_machine__print(FILE *out, const struct ps *ps, enum quantity_form form, int columns);

/* --- what stands in a row --- */

#define PS_CELL_SIZE 128

enum ps_column {
	PS_COLUMN_PID = 0,
	PS_COLUMN_USER,
	PS_COLUMN_CONTAINER,
	PS_COLUMN_GPU,
	PS_COLUMN_MEMORY,
	PS_COLUMN_STATE,
	PS_COLUMN_IN_CUDA,
	PS_COLUMN_LIBRARIES,
	PS_COLUMNS
};

/* The text of a cell, raw; "-" if it is unknown. Returns `text`. */
char *ps_cell__text(const struct ps *ps, const struct ps_row *row, enum ps_column column,
		    enum quantity_form form, char text[PS_CELL_SIZE]);

/* Whether it is in a container, a pod or a machine of its own. */
bool ps_cell__is_contained(const struct process *process);

#endif
