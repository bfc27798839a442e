/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bpftrace script that prints CUDA calls as they return, one line each, for
 * machines with nothing but bpftrace. It is made for bpftrace 0.17 (Debian 12):
 * no configuration in the script, 512 probes unless told otherwise.
 */
#ifndef OUTPUT_BPFTRACE_SCRIPT_H
#define OUTPUT_BPFTRACE_SCRIPT_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "trace/function.h"

/* A function in a library, or in a program with the runtime inside. bpftrace refuses one that the file does not have. */
struct bpftrace_site {
	const char *path; /* absolute */
	const struct trace_function *function;
};

/*
 * Prints the script. The sites are sorted by it, functions in the order of
 * their names; of a site that is there twice one counts. `note` is a line
 * about the paths for the script's head. -EINVAL without sites and where a path has a
 * character that bpftrace cannot read; -ENOMEM.
 */
int bpftrace_script__print(struct bpftrace_site *sites, size_t count, const char *note, FILE *out,
			   struct error *err);

#endif
