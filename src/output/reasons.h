/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the time of threads that submit work went (finding/host_reasons.h), in `diagnose`. */
#ifndef OUTPUT_REASONS_H
#define OUTPUT_REASONS_H

#include <stdio.h>

#include "base/json.h"
#include "finding/host_reasons.h"
#include "model/model.h"

/*
 * The reasons that take REASON_LEAST_SHARE or more of a process's time, a line each, most time first, at most REASONS_SHOWN:
 *
 *     52.1 %  on the CPU           normalise (train.py:31) < batches (train.py:44) < <module> (train.py:80)
 *
 * and below it whom it waits for, or who has the CPU meanwhile.
 * Nothing where nothing is known.
 */
void reasons_text__print(FILE *out, const struct process *process);

#define REASONS_SHOWN 8
#define REASON_LEAST_SHARE 0.01

/* The member `reasons`: all of them. */
void reasons_json__write(struct json *j, const struct process *process);

/* The member `host`: whether threads are followed, and if not, why; nothing where they were not to be. */
void reasons_json__write_host(struct json *j, const struct model *model);

#endif
