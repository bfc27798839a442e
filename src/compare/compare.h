/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares two runs, A and B: what each step of B has more or less of, or without steps the whole
 * run. Processes are compared in pairs of the same name. Counts are exact, apart from what the
 * beginning and end of the counted time may change; times count if the steps differ by more than
 * their spread.
 */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "compare/run.h"

/* In the order in which they are shown. */
enum difference_group {
	GROUP_COUNTS = 0,
	GROUP_MEMORY,
	GROUP_TIMES,
	DIFFERENCE_GROUPS,
};

/* A kernel, function or place that a difference comes from. */
struct difference_part {
	const char *shown;
	const char *whole; /* a kernel's whole name; NULL: it is none, or the name is unknown */
	double a, b;
};

#define DIFFERENCE_PARTS 16 /* those that changed most */

struct difference {
	size_t pair; /* index of the pair of processes */
	enum difference_group group;
	enum figure_unit unit;
	enum figure_scope scope;
	const char *name; /* of the figure, or of a function */
	bool of_function; /* calls of `name` */
	double a, b;
	double cost_ns; /* roughly what the change takes in a step, or in all; 0: unknown */
	bool worse;
	struct difference_part parts[DIFFERENCE_PARTS];
	size_t part_count;
	size_t parts_left; /* further ones */
};

struct compared_pair {
	const struct compared_process *a, *b;
	bool by_steps; /* else the whole runs are compared */
};

struct finding_change {
	const struct json_value *finding; /* of stat's JSON, in B, or in A if it went */
	bool came;
	bool worse;
};

/* Calls that were not compared because they only ask. */
struct left_out_calls {
	const char *function;
	double a, b; /* per step, or in all */
};

/* What could not be compared, in a sentence. */
struct refusal {
	char text[256];
};

struct comparison {
	const struct compared_run *a, *b;
	struct compared_pair *pairs;
	size_t pair_count;
	struct difference *differences; /* by group; the worse ones first, then the costly ones */
	size_t difference_count;
	struct finding_change *findings;
	size_t finding_count;
	struct left_out_calls *left_out;
	size_t left_out_count;
	struct refusal *refusals;
	size_t refusal_count;
	bool refused; /* nothing was compared: the only refusal says why */
	bool worse;   /* something is */
};

#define SHOWN_SHARE 0.05 /* steps that take so much longer are shown */
#define NEVER_WORSE (-1) /* however long steps take */

/*
 * Compares the runs, which must outlive the comparison. Steps must take longer by `share` (0.1:
 * 10 %) to be worse; NEVER_WORSE: they are only shown. Two equal runs may take times that differ by
 * more than the spread within either. Returns 0 or -ENOMEM; release with comparison__clear.
 */
int comparison__make(struct comparison *comparison, const struct compared_run *a,
		     const struct compared_run *b, double share);
void comparison__clear(struct comparison *comparison);

#endif
