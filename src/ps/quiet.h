/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that use CUDA and have made no call since attach, for commands that learn of a
 * process by its calls. /proc is read once, NVML's latest answer at each refresh.
 */
#ifndef PS_QUIET_H
#define PS_QUIET_H

#include "ps/list.h"

struct ps_quiet;

/*
 * Finds them as ps_list__find does. `request` and what it points to must outlive the list. Returns
 * 0, or a negative errno with the reason in `err`.
 */
int ps_quiet__new(const struct ps_request *request, struct ps_quiet **out, struct error *err);
void ps_quiet__free(struct ps_quiet *quiet); /* NULL ok */

/*
 * Removes those that have ended or that `watched` has by now, and updates the others' memory.
 * Returns 0, or -ENOMEM: some are missing.
 */
int ps_quiet__refresh(struct ps_quiet *quiet, const struct model *watched);

/* The processes; their GPUs are those of the watched model. NULL for NULL. */
const struct model *ps_quiet__model(const struct ps_quiet *quiet);

#endif
