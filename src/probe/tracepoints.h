/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's own tracepoints, which tell of the life of processes. */
#ifndef PROBE_TRACEPOINTS_H
#define PROBE_TRACEPOINTS_H

#include <stddef.h>

#include "base/error.h"

struct bpf_link;
struct bpf_program;

struct tracepoint {
	struct bpf_program *program;
	struct bpf_link **link; /* where the link goes; the skeleton ends it */
	const char *name;	/* the program's section names it, too, but for a program at several */
};

/* Attaches those that are loaded, all of them, or says which failed. */
int tracepoints__attach(const struct tracepoint *points, size_t count, struct error *err);

#endif
