/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe memleak`. */
#ifndef CLI_MEMLEAK_OPTIONS_H
#define CLI_MEMLEAK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"
#include "cli/session/live_model.h"
#include "cli/options/recording_options.h"
#include "cli/options/stack_options.h"
#include "output/memleak/memleak.h"

struct memleak_command {
	struct recording_choice input; /* a recording instead of programs */
	struct targets targets;
	double interval;     /* seconds */
	double duration;     /* seconds; 0: until stopped */
	unsigned long count; /* reports; 0: any number */
	enum api_mode api;
	struct live_model_limits limits;
	struct stack_choice stacks;
	struct live_filter filter;
	struct memleak_options output;
	double max_overhead;	   /* of stacks of tensors, 0.05: 5 %; 0: no limit */
	uint64_t window_ns;	   /* time window for growth detection */
	const char *oom_directory; /* files of out-of-memory reports; NULL: none */
	bool steps; /* find steps that repeat: launches, copies and waits are watched, too */
	bool json;
	enum log_level log_level;
};

extern const struct option_table memleak_option_table;

/*
 * Parses the command line; argv[0] is "memleak". Returns an enum option_result, or -EINVAL with a
 * message in `err` (exit status 2). The caller always calls memleak_options__clear.
 */
int memleak_options__parse(struct memleak_command *options, int argc, char **argv,
			   struct error *err);
void memleak_options__clear(struct memleak_command *options);

#endif
