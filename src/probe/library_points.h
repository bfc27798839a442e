/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes on functions of a library that gpuprobe gives to a program: one BPF program for all. */
#ifndef PROBE_LIBRARY_POINTS_H
#define PROBE_LIBRARY_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define LIBRARY_POINTS 8 /* at most */

struct bpf_link;
struct bpf_program;

/* What is probed: names of functions, and the cookie that each has in the program. */
struct library_functions {
	const char *const *names;
	const uint64_t *cookies;
	size_t count;
};

struct library_points {
	int link;				/* of all functions, or -1 */
	struct bpf_link *links[LIBRARY_POINTS]; /* of one function each, without uprobe_multi */
};

/*
 * Attaches the loaded program to the functions of the library at `path`; `multi`: with one link,
 * for which the program was loaded. Returns 0, or a negative errno with a message. The caller
 * detaches in either case.
 */
int library_points__attach(struct library_points *points, struct bpf_program *program, bool multi,
			   const char *path, const struct library_functions *functions,
			   struct error *err);

/* Of points that were attached once, or began with a link of -1. */
void library_points__detach(struct library_points *points);

#endif
