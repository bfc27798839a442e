/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `gpuprobe memleak` says: live device memory by call site, which of them
 * grow, and what processes that ended had left. As text and as JSON.
 */
#ifndef OUTPUT_MEMLEAK_MEMLEAK_H
#define OUTPUT_MEMLEAK_MEMLEAK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/growth.h"
#include "model/model.h"

/* Of the JSON: raised when a key changes its meaning or goes; new keys may come without. */
#define MEMLEAK_JSON_SCHEMA 1

struct memleak_options {
	unsigned int top;      /* call sites shown of a process; 0: all */
	uint64_t min_count;    /* sites with fewer live allocations are left out */
	bool show_allocations; /* each of them below its site */
	bool some_sizes;       /* allocations of other sizes are in no site */
	uint64_t older_ns;     /* nor are younger ones */
};

/* A report as people read it. 0, or -ENOMEM: it is not whole. */
int memleak_text__print(FILE *out, const struct model *model, const struct growth *growth,
			const struct memleak_options *options);

/* The same as one JSON object on a line. */
int memleak_json__print(FILE *out, const struct model *model, const struct growth *growth,
			const struct memleak_options *options);

#endif
