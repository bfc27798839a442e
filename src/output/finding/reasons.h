/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the time of threads that submit work went (finding/host_reasons.h), for `diagnose`. */
#ifndef OUTPUT_FINDING_REASONS_H
#define OUTPUT_FINDING_REASONS_H

#include <stdio.h>

#include "base/json.h"
#include "base/quantity.h"
#include "finding/host_reasons.h"
#include "model/model.h"

/*
 * Prints the reasons that take REASON_LEAST_SHARE or more of the time of the process's threads.
 * Each has a line, the longest first, at most REASONS_SHOWN. The time is per step, or the total if
 * the process has no steps:
 *
 *     38.1 ms  52.5 %  on the CPU           normalise (train.py:31) < batches (train.py:44)
 *      1.3 ms   1.8 %  waiting for the GPU  item (train.py:60) < <module> (train.py:80), 1 a step
 *
 * A line below names the thread that it waits for, or the one that has the CPU meanwhile. Prints
 * nothing if nothing is known.
 */
void reasons_text__print(FILE *out, const struct process *process, uint64_t now_ns,
			 enum quantity_form form);

/*
 * As reasons_text__print, followed by advice on the first reason: "    Load modules before the loop
 * (--explain host-bound)."
 */
void reasons_text__print_advised(FILE *out, const struct process *process, uint64_t now_ns,
				 const char *finding, enum quantity_form form);

#define REASONS_SHOWN 8
#define REASON_LEAST_SHARE 0.01

/* Writes the member `reasons`: all of them. */
void reasons_json__write(struct json *j, const struct process *process, uint64_t now_ns);

/*
 * Writes the member `host`: whether threads are followed, and if not, why. Writes nothing if
 * following was not requested.
 */
void reasons_json__write_host(struct json *j, const struct model *model);

#endif
