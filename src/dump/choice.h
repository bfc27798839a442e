/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes a dump covers. */
#ifndef DUMP_CHOICE_H
#define DUMP_CHOICE_H

#include "target/proc.h"

/*
 * Adds the processes in `asked`, whatever they map, and their descendants that use CUDA; if `asked`
 * is empty, all processes that use CUDA. Returns 0 or a negative errno. The caller releases the
 * list with pid_list__clear in any case.
 */
int dump_choice__make(const pid_t *asked, size_t count, struct pid_list *pids);

#endif
