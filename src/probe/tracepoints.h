/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's tracepoints for the life of processes. */
#ifndef PROBE_TRACEPOINTS_H
#define PROBE_TRACEPOINTS_H

#include <stddef.h>

#include "base/error.h"

struct bpf_link;
struct bpf_program;

struct tracepoint {
	struct bpf_program *program;
	struct bpf_link **link; /* receives the link; the skeleton destroys it */
	const char *name;	/* also in the section name, unless there are several */
};

/* Attaches all programs that are loaded. On failure `err` names the one that failed. */
int tracepoints__attach(const struct tracepoint *points, size_t count, struct error *err);

#endif
