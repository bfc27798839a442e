/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures of a process by which runs are compared and budgets are checked. The table is the
 * only place that knows what they are called and where they are in the JSON of gpuprobe stat.
 */
#ifndef COMPARE_FIGURES_H
#define COMPARE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json_reader.h"

enum figure_unit {
	FIGURE_COUNT = 0,
	FIGURE_BYTES,
	FIGURE_NS,
};

/* What a figure refers to. */
enum figure_scope {
	SCOPE_STEP = 0, /* one of the steps that the process repeats; without warm-up */
	SCOPE_ALL,	/* the whole run */
	SCOPE_PROCESS,	/* neither: its memory */
	SCOPES,
};

/* How two of them are compared. */
enum figure_rule {
	RULE_EXACT = 0, /* a count: each difference is one */
	RULE_MEMORY,	/* bytes at readings: a difference must be more than their chance */
	RULE_STEP_TIME, /* beyond the spread of the steps */
	RULE_TIME,	/* a time without a spread: shown, and never worse */
	RULE_BUDGET,	/* only for budgets: others of the table add up to it */
};

struct figure_kind {
	const char *name; /* "copies to device" */
	enum figure_unit unit;
	enum figure_scope scope;
	enum figure_rule rule;
	/* its calls, as in the JSON's "sampling": sampling makes it an estimate; NULL: never */
	const char *family;
	/*
	 * Where it is in a process: the sum of up to three members. "*" is each element or member
	 * of the list before it
	 */
	const char *paths[3];
	const char *time;   /* the time that it costs in a step: a path; NULL: unknown */
	const char *events; /* of bytes: how many copies they are of: a path */
};

extern const struct figure_kind figure_kinds[];
extern const size_t figure_kind_count;

#define FIGURES_MAX 48

/* "launches per step", "launches in all", "peak memory": the name with its scope. */
struct figure_name {
	char text[64];
};

struct figure_name figure_kind__name(const struct figure_kind *kind);

/*
 * Reads the figure of a process of stat's JSON. False if it is unknown there: the JSON has no
 * steps, for example, or is of an older gpuprobe.
 */
bool figure_kind__read(const struct figure_kind *kind, const struct json_value *process,
		       double *value);

/* The sum of what `path` names; false if nothing is there. */
bool figures__sum(const struct json_value *value, const char *path, double *sum);

#endif
