/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe flame`. */
#ifndef CLI_FLAME_OPTIONS_H
#define CLI_FLAME_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"
#include "cli/options/recording_options.h"
#include "cli/options/stack_options.h"
#include "output/flame/graph.h"

enum flame_form {
	FLAME_UNSAID = 0, /* during parsing */
	FLAME_FOLDED,
	FLAME_SVG,
	FLAME_SPEEDSCOPE
};

struct flame_options {
	struct recording_choice input; /* a recording instead of programs */
	struct targets targets;
	struct stack_choice stacks;
	enum flame_by by;
	bool gpu_times; /* COMMAND gets the library for them; with FLAME_GPU_TIME alone */
	bool tensors;	/* of tensors instead of memory from CUDA, so `by` is one of them */
	enum flame_form form;
	const char *file;  /* output file; NULL: standard output */
	const char *title; /* or NULL */
	double duration;   /* seconds; 0: until stopped */
	bool full_names;   /* of kernels */
	enum quantity_form amounts;
	bool processes; /* add a process frame even for a single process */
	enum log_level log_level;
};

extern const struct option_table flame_options;

/*
 * Parses the command line. Returns an enum option_result, or -EINVAL with a message in `err` (exit
 * status 2). The caller always calls flame_options__clear.
 */
int flame_options__parse(struct flame_options *options, int argc, char **argv, struct error *err);
void flame_options__clear(struct flame_options *options);

#endif
