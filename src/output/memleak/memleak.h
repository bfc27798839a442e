/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of `gpuprobe memleak` as text and JSON: live device memory by call site, which sites grow,
 * and what ended processes had left.
 */
#ifndef OUTPUT_MEMLEAK_MEMLEAK_H
#define OUTPUT_MEMLEAK_MEMLEAK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/quantity.h"
#include "model/growth.h"
#include "model/model.h"

/*
 * The JSON's "schema". It is raised when a key changes its meaning or is removed; new keys do not
 * raise it.
 */
#define MEMLEAK_JSON_SCHEMA 1

/*
 * What is shown by call site: tensors, which a framework's allocator hands out, or segments that
 * it takes from CUDA.
 */
enum memleak_levels {
	MEMLEAK_LEVELS_AUTO = 0, /* tensors of processes that have any, otherwise segments */
	MEMLEAK_SEGMENTS = 1 << 0,
	MEMLEAK_TENSORS = 1 << 1,
};

struct memleak_options {
	unsigned int top;      /* call sites shown for each process; 0: all */
	uint64_t min_count;    /* sites with fewer live allocations are left out */
	bool show_allocations; /* list each allocation below its site */
	bool all_frames;       /* print every frame of stacks, see output/folded_stack.h */
	/* only some sizes are selected: allocations of other sizes are in no site */
	bool some_sizes;
	uint64_t verdict_ns;	 /* how long a site is followed before it is judged */
	uint64_t older_ns;	 /* allocations younger than this are in no site either */
	enum quantity_form form; /* of the text's amounts */
	enum memleak_levels levels;
};

/* Histories of both levels. */
struct memleak_growth {
	const struct growth *segments; /* memory from CUDA */
	const struct growth *tensors;  /* NULL: tensors are not watched */
	const struct growth *pinned;   /* pinned host memory */
};

/* Prints a report for people. Returns 0, or -ENOMEM: the report is incomplete. */
int memleak_text__print(FILE *out, const struct model *model, const struct memleak_growth *growth,
			const struct memleak_options *options);

/* The same as one JSON object on one line. */
int memleak_json__print(FILE *out, const struct model *model, const struct memleak_growth *growth,
			const struct memleak_options *options);

#endif
