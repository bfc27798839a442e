/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flame graph shows, before it has a form: a tree of the call stacks of
 * a model's call sites, each with its weight. The outermost frames are at the
 * root; a kernel or an error stands above the CUDA function it is of.
 *
 * Labels are copies, escaped, one line each: nothing of the model is needed
 * any more.
 */
#ifndef OUTPUT_FLAME_GRAPH_H
#define OUTPUT_FLAME_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

enum flame_by {
	FLAME_BYTES = 0,  /* device memory allocated in all */
	FLAME_LIVE_BYTES, /* of it what is live */
	FLAME_LAUNCHES,
	FLAME_WAIT_TIME, /* nanoseconds */
	FLAME_FAILURES,
	FLAME_BYS,
};

enum flame_frame_kind {
	FLAME_NATIVE = 0,
	FLAME_PYTHON,
	FLAME_CUDA, /* a function of the CUDA API */
	FLAME_KERNEL,
	FLAME_ERROR,
	FLAME_PROCESS,
	FLAME_MARK, /* what is not known */
	FLAME_FRAME_KINDS,
};

struct flame_frame {
	char *label;
	char *file;    /* NULL: not known; as `line` with `lines` alone */
	uint32_t line; /* 0: not known */
	enum flame_frame_kind kind;
	size_t number;		  /* among the frames, those of processes left out */
	struct flame_frame *next; /* in the order of the numbers */
};

struct flame_node {
	const struct flame_frame *frame;	  /* NULL: the root */
	uint64_t total;				  /* of all stacks that go through it */
	uint64_t self;				  /* of those that end here */
	uint64_t begin;				  /* what stands to its left in the graph */
	unsigned int depth;			  /* of the root: 0 */
	struct flame_node *parent, *child, *next; /* children by their labels */
};

struct flame_graph_options {
	enum flame_by by;
	bool processes; /* a frame for the process, also where there is one alone */
	bool lines;	/* native calls from different lines of one function are different frames */
};

struct flame_graph {
	enum flame_by by;
	struct flame_node *root;
	struct flame_frame *frames;
	size_t frame_count;   /* those of processes left out */
	size_t process_count; /* that have a part in it */
	unsigned int depth;   /* of the deepest node */
	uint64_t sites;	      /* stacks with a weight; several may have become one */
	uint64_t unknown;     /* of the total: of stacks that are not known */
	bool broken;	      /* some stacks break off */
	struct flame_store *store;
};

/* Frees with flame_graph__free. -ENOMEM. */
int flame_graph__new(const struct model *model, const struct flame_graph_options *options, struct flame_graph **out);
void flame_graph__free(struct flame_graph *graph);

/* The next node, children before siblings; NULL after the last. */
const struct flame_node *flame_node__next(const struct flame_node *node);
/* The same without the node's own children. */
const struct flame_node *flame_node__after(const struct flame_node *node);

const char *flame_by__word(enum flame_by by);  /* "live-bytes" */
const char *flame_by__title(enum flame_by by); /* "Live device memory" */
const char *flame_by__unit(enum flame_by by);  /* "bytes", "nanoseconds", "launches", "failures" */

#endif
