/* SPDX-License-Identifier: BSD-2-Clause */
/* Pinned host memory by call site, in the text of `gpuprobe memleak`. */
#ifndef OUTPUT_MEMLEAK_PINNED_H
#define OUTPUT_MEMLEAK_PINNED_H

#include "output/memleak/printer.h"

/*
 * Prints the sites of a running process if one of them grows, or nothing: memory that stays as it
 * is takes no room on the GPU. Returns 0 or -ENOMEM.
 */
int memleak_pinned__print(const struct memleak_printer *printer, const struct process *process);

#endif
