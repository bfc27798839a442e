/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe dump`. */
#ifndef CLI_DUMP_OPTIONS_H
#define CLI_DUMP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"

struct dump_options {
	struct targets targets; /* only pids; none: every process that uses CUDA */
	uint64_t again_ns;	/* time between the first dump and a second one; 0: no second one */
	bool json;
	enum quantity_form form;
	bool all_frames; /* struct dump_view */
	bool all;	 /* see struct dump_view */
	enum log_level log_level;
};

extern const struct option_table dump_options;

/*
 * Parses the command line. Returns an enum option_result, or -EINVAL (-ENOMEM) with a message in
 * `err` (exit status 2). The caller always calls dump_options__clear.
 */
int dump_options__parse(struct dump_options *options, int argc, char **argv, struct error *err);
void dump_options__clear(struct dump_options *options);

#endif
