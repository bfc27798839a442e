/* SPDX-License-Identifier: BSD-2-Clause */
/* What `gpuprobe memleak` prints of a process's tensors as a whole. */
#ifndef OUTPUT_MEMLEAK_TENSORS_H
#define OUTPUT_MEMLEAK_TENSORS_H

#include <stdio.h>

#include "output/memleak/memleak.h"

/*
 * Prints a line for the process, which has tensors, see tensors_text__print, and below it what is
 * not known.
 */
void memleak_tensors__print(FILE *out, const struct process *process,
			    const struct memleak_options *options);

#endif
