/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a bpftrace script that prints CUDA calls as they return, one line each, for machines that
 * have nothing but bpftrace. It works with bpftrace 0.17 (Debian 12), which allows no configuration
 * in the script and 512 probes by default.
 */
#ifndef OUTPUT_BPFTRACE_SCRIPT_H
#define OUTPUT_BPFTRACE_SCRIPT_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "trace/function.h"

/*
 * A function in a library, or in a program that contains the runtime. bpftrace rejects a function
 * that the file does not have.
 */
struct bpftrace_site {
	const char *path; /* absolute */
	const struct trace_function *function;
};

/*
 * Prints the script. Sorts `sites`; the script has the functions in the order of their names.
 * Duplicate sites count once. `note` is a line about the paths for the script's head. Returns 0;
 * -EINVAL if there are no sites or a path has a character that bpftrace cannot read; -ENOMEM.
 */
int bpftrace_script__print(struct bpftrace_site *sites, size_t count, const char *note, FILE *out,
			   struct error *err);

#endif
