/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes a dump is of. */
#ifndef DUMP_CHOICE_H
#define DUMP_CHOICE_H

#include "target/proc.h"

/*
 * Adds those that were asked for, whatever they have mapped, and their descendants that use CUDA; where none was, all that use
 * CUDA. 0 or a negative errno; pid_list__clear releases the list in any case.
 */
int dump_choice__make(const pid_t *asked, size_t count, struct pid_list *pids);

#endif
