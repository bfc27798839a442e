/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The content of a flame graph, independent of its form: a tree of the call stacks of a model's
 * call sites, each with its weight. The outermost frames are at the root. A kernel or an error is
 * above the CUDA function that it belongs to.
 *
 * Labels are escaped copies, one line each: the graph does not refer to the model.
 */
#ifndef OUTPUT_FLAME_GRAPH_H
#define OUTPUT_FLAME_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/quantity.h"
#include "model/model.h"
#include "stack/stack_break.h"

enum flame_by {
	FLAME_BYTES = 0,  /* total device memory allocated */
	FLAME_LIVE_BYTES, /* live part of it */
	FLAME_LAUNCHES,
	FLAME_WAIT_TIME, /* nanoseconds */
	FLAME_FAILURES,
	FLAME_GPU_TIME,		 /* nanoseconds that work ran, by model->gpu_times */
	FLAME_TENSOR_BYTES,	 /* FLAME_BYTES of tensors in device memory */
	FLAME_LIVE_TENSOR_BYTES, /* live part of them at the end */
	FLAME_BYS,
};

enum flame_frame_kind {
	FLAME_NATIVE = 0,
	FLAME_PYTHON,
	FLAME_CUDA, /* a function of the CUDA API */
	FLAME_KERNEL,
	FLAME_ERROR,
	FLAME_PROCESS,
	FLAME_MARK, /* an unknown part of a stack */
	FLAME_FRAME_KINDS,
};

struct flame_frame {
	char *label;
	char *file;    /* NULL: unknown, always so without `lines` */
	uint32_t line; /* 0: unknown, always so without `lines` */
	enum flame_frame_kind kind;
	size_t number;		  /* index among the frames, excluding those of processes */
	struct flame_frame *next; /* in the order of the numbers */
};

struct flame_node {
	const struct flame_frame *frame;	  /* NULL: the root */
	uint64_t total;				  /* of all stacks through it */
	uint64_t self;				  /* of the stacks that end here */
	uint64_t begin;				  /* weight to the left of it in the graph */
	unsigned int depth;			  /* 0 for the root */
	struct flame_node *parent, *child, *next; /* children in the order of their labels */
};

struct flame_graph_options {
	enum flame_by by;
	bool processes;		    /* a frame for each process, even if there is only one */
	bool full_names;	    /* of kernels */
	enum quantity_form amounts; /* in the picture and in notes */
	bool lines; /* native calls from different lines of one function are different frames */
};

struct flame_graph {
	enum flame_by by;
	enum quantity_form amounts; /* in texts */
	struct flame_node *root;
	struct flame_frame *frames;
	size_t frame_count;   /* excluding frames of processes */
	size_t process_count; /* that contribute to it */
	unsigned int depth;   /* of the deepest node */
	uint64_t sites;	      /* stacks with a weight; several may have merged into one */
	uint64_t unknown;     /* part of the total that belongs to unknown stacks */
	struct stack_break broken;
	struct flame_store *store;
};

/* Returns 0 or -ENOMEM. The caller frees *out with flame_graph__free. */
int flame_graph__new(const struct model *model, const struct flame_graph_options *options,
		     struct flame_graph **out);
void flame_graph__free(struct flame_graph *graph);

/* The next node, children before siblings; NULL after the last. */
const struct flame_node *flame_node__next(const struct flame_node *node);
/* The next node after the node's subtree. */
const struct flame_node *flame_node__after(const struct flame_node *node);

const char *flame_by__word(enum flame_by by);  /* "live-bytes" */
const char *flame_by__title(enum flame_by by); /* "Live device memory" */

#endif
