/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steady time of a process: since the reading at which it was first known what its steps are (model/steps.h).
 * What had been counted by then is kept, so that findings can be drawn from what came after: a start with its loads and
 * first launches makes no fault of a program that runs for hours, and hides none.
 */
#ifndef MODEL_STEADY_H
#define MODEL_STEADY_H

#include <stdbool.h>
#include <stdint.h>

struct process;
struct steady_base;

/* Keeps what was counted so far, where the process's steps are others than they were at the latest such moment. 0 or -ENOMEM. */
int steady__follow(struct process *process, uint64_t now_ns);
void steady_base__free(struct steady_base *base);

/* Since when it is steady; 0: it is not known to be. */
uint64_t steady__since_ns(const struct process *process);

/*
 * A copy of the process with only what was counted in its steady time, of what is counted: threads, functions,
 * sizes of allocations and copies, repeated copies, and what the model has by function. All else is as in `process`. Threads
 * began then, at the earliest. Returns 0 or -ENOMEM; release with steady__clear_view. `process` must outlive it.
 */
int steady__view(const struct process *process, struct process *view);
void steady__clear_view(struct process *view);

#endif
