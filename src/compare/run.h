/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run as the comparison and budgets see it, from the JSON of gpuprobe stat: its processes that
 * use CUDA with their figures, what they call, and the findings. A recording is read through the
 * same JSON, so that a recording and a file of `stat --json` can be compared.
 */
#ifndef COMPARE_RUN_H
#define COMPARE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json_reader.h"
#include "compare/figures.h"

#define RUN_PROCESSES_MAX 64 /* that are compared; further ones are counted */

enum figure_state {
	FIGURE_UNKNOWN = 0,
	FIGURE_KNOWN,
	FIGURE_ESTIMATED, /* calls were sampled */
	FIGURE_PARTIAL,	  /* only since attach, or only so far: no figure of the whole run */
};

/* What a call does: the figure that it is part of. */
enum counted_class {
	COUNTED_LAUNCH = 0,
	COUNTED_WAIT,
	COUNTED_COPY,
	COUNTED_ALLOCATION,
	COUNTED_FREE,
	COUNTED_OTHER, /* of no figure: events, contexts, graphs */
	COUNTED_ASK,   /* only asks: how often depends on how long something else took */
};

/* Calls of a function, launches of a kernel or calls at a place. */
struct counted {
	const char *name;  /* by which two runs are compared */
	const char *shown; /* the same for people */
	const char *whole; /* a kernel's whole name; NULL: it is none, or the name is unknown */
	enum counted_class class;
	double count; /* per step, or in all */
	double ns;    /* for one of them; 0: unknown */
};

/* What a list of these refers to. */
struct counted_list {
	struct counted *items; /* ordered by name */
	size_t count;
	bool known;
	double edges; /* by how much of a count its beginning and end may change it: 0.01 is 1 % */
};

struct counted_lists {
	struct counted_list kernels;
	struct counted_list functions; /* of a step: in the steady time */
	struct counted_list places;    /* lines that wait, copy and allocate */
};

struct compared_process {
	const struct json_value *json;
	int64_t pid;
	const char *comm;
	uint64_t start_ns;
	double launches;       /* in all, or what else it did */
	bool has_steps;	       /* with sums */
	double steps;	       /* those that the sums are over */
	double p25_ns, p75_ns; /* half of the steps took this long; 0: unknown */
	double figures[FIGURES_MAX];
	enum figure_state states[FIGURES_MAX];
	struct counted_lists lists[SCOPE_PROCESS]; /* by scope: of a step, and of the whole run */
	char **texts;				   /* that `places` refer to */
	size_t text_count;
};

struct compared_run {
	const char *path; /* for messages */
	const struct json_value *json;
	double seconds;			    /* that were watched */
	struct compared_process *processes; /* most launches first */
	size_t process_count;
	size_t processes_left; /* beyond RUN_PROCESSES_MAX */
};

/*
 * Reads a run. `json`, the whole report, and `path` must outlive it. Returns 0, -EINVAL with a
 * message if it is no report of gpuprobe stat or diagnose, or -ENOMEM.
 */
int compared_run__read(struct compared_run *run, const struct json_value *json, const char *path,
		       struct error *err);
void compared_run__clear(struct compared_run *run);

/*
 * Why the run's counts cannot be trusted: "123 records were lost (ring_full)". False: nothing that
 * counts was lost.
 */
bool compared_run__loss(const struct compared_run *run, char *text, size_t size);

#endif
