/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the time of threads that submit work went (finding/host_reasons.h), in `diagnose`. */
#ifndef OUTPUT_FINDING_REASONS_H
#define OUTPUT_FINDING_REASONS_H

#include <stdio.h>

#include "base/json.h"
#include "finding/host_reasons.h"
#include "model/model.h"

/*
 * The reasons that take REASON_LEAST_SHARE or more of the time of a process's threads, a line each, most time first, at most
 * REASONS_SHOWN; what each takes in a step, or without steps in all:
 *
 *     38.1 ms  52.5 %  on the CPU           normalise (train.py:31) < batches (train.py:44) < <module> (train.py:80)
 *      1.3 ms   1.8 %  waiting for the GPU  item (train.py:60) < <module> (train.py:80), 1 a step
 *
 * and below it whom it waits for, or who has the CPU meanwhile.
 * Nothing where nothing is known.
 */
void reasons_text__print(FILE *out, const struct process *process, uint64_t now_ns);

/* And below them what helps against the first: "    Load modules before the loop (--explain host-bound)." */
void reasons_text__print_advised(FILE *out, const struct process *process, uint64_t now_ns, const char *finding);

#define REASONS_SHOWN 8
#define REASON_LEAST_SHARE 0.01

/* The member `reasons`: all of them. */
void reasons_json__write(struct json *j, const struct process *process, uint64_t now_ns);

/* The member `host`: whether threads are followed, and if not, why; nothing where they were not to be. */
void reasons_json__write_host(struct json *j, const struct model *model);

#endif
