/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budgets: what a run may use, one limit a line.
 *
 *	launches per step <= 400
 *	cudaMalloc in steady state == 0      # a comment
 *	peak memory <= 12 GiB
 *	findings critical == 0
 *
 * A limit is checked for each process that used CUDA.
 */
#ifndef COMPARE_BUDGET_H
#define COMPARE_BUDGET_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "compare/run.h"

#define BUDGET_LINES_MAX 1000

struct budget;

enum budget_state {
	BUDGET_KEPT = 0,
	BUDGET_BROKEN,
	BUDGET_UNKNOWN, /* `why` says why it cannot be checked */
};

struct budget_result {
	const char *text;  /* the limit, as in the file; the budget owns it */
	unsigned int line; /* its number */
	enum figure_unit unit;
	enum budget_state state;
	double value; /* measured, unless it is unknown: that of the worst process */
	const struct compared_process *process; /* which one; NULL: the whole run, or unknown */
	char why[160];
};

/*
 * Parses a budget of `length` bytes. Returns 0, -ENOMEM, or -EINVAL with a message that says which
 * line is wrong and what is allowed: also if it has no limit at all.
 */
int budget__parse(const char *text, size_t length, struct budget **out, struct error *err);
void budget__free(struct budget *budget); /* NULL is fine */

/*
 * Sets *results to an array with a result for each limit, which the caller releases with free(3).
 * Budget and run must outlive it. Returns 0 or -ENOMEM.
 */
int budget__check(const struct budget *budget, const struct compared_run *run,
		  struct budget_result **results, size_t *count);

#endif
