/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the lists of what a process calls: kernels, functions and places (compare/run.h). */
#ifndef COMPARE_COUNTED_H
#define COMPARE_COUNTED_H

#include "compare/run.h"

/*
 * Reads the lists from process->json; its other members are filled. Returns 0 or -ENOMEM. They are
 * the process's also on failure.
 */
int counted__read(struct compared_process *process);

#endif
