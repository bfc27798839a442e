/* SPDX-License-Identifier: BSD-2-Clause */
/* The line that a process begins with: who it is, its GPUs with the memory it has there, and how many threads it has. */
#ifndef OUTPUT_DUMP_HEAD_H
#define OUTPUT_DUMP_HEAD_H

#include <stdio.h>

#include "model/dump.h"

/* With a newline. */
void dump_head__print(FILE *out, const struct model *model, const struct dump_process *process);

#endif
