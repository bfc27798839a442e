/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that `gpuprobe top` lists: those that the filters let through, in order. */
#ifndef OUTPUT_TOP_LIST_H
#define OUTPUT_TOP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"
#include "model/process_rates.h"

enum top_sort {
	TOP_BY_MEMORY = 0,
	TOP_BY_GROWTH, /* of memory */
	TOP_BY_LAUNCHES,
	TOP_BY_WAIT,
	TOP_BY_COPIES, /* bytes in both directions */
	TOP_BY_PID,
	TOP_SORTS,
};

extern const char *const top_sort_words[TOP_SORTS]; /* "memory" */

/* Most first, but pids ascend. Processes that have ended come last. */
struct top_order {
	enum top_sort sort;
	bool reverse;
	bool tree;	    /* children below their parents */
	const char *filter; /* part of the command line, container, pod or pid, in any case */
	const char *user;   /* the whole name; empty: all users */
};

#define TOP_ENDED_NS 10000000000ull /* a process is listed for so long after its end */

struct top_row {
	const struct process *process;
	struct process_rate rate;
	bool quiet;	    /* it has made no call since attach */
	unsigned int depth; /* in the tree */
};

struct top_list {
	struct top_row *rows;
	size_t count;
	size_t hidden; /* processes that the filters hide */
};

/*
 * Lists the processes of the model, except those that ended TOP_ENDED_NS ago, and the `quiet` ones
 * (NULL: none). The list points into both models and is valid until they change. Returns 0 or
 * -ENOMEM: the list is empty.
 */
int top_list__make(struct top_list *list, const struct model *model, const struct model *quiet,
		   const struct process_rates *rates, const struct top_order *order);
void top_list__clear(struct top_list *list);

/* Whether a process with that pid is listed. */
bool top_list__has(const struct top_list *list, int32_t pid);

/* The row of the process; `count` if there is none. */
size_t top_list__find(const struct top_list *list, int32_t pid, uint64_t start_ns);

#endif
