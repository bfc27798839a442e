/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe top`. */
#ifndef CLI_TOP_OPTIONS_H
#define CLI_TOP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"
#include "cli/options/recording_options.h"
#include "cli/options/stack_options.h"
#include "cli/session/live_model.h"
#include "output/top/view.h"

struct top_options {
	struct targets targets;	       /* no command */
	struct recording_choice input; /* readings are those of a recording */
	double interval;	       /* seconds between readings; 0: each one of a recording */
	unsigned int count;	       /* readings to show; 0: no limit */
	bool batch;		       /* print text instead of taking the terminal over */
	enum top_sort sort;
	enum quantity_form form;
	bool full_names; /* of kernels, in the page of a process */
	enum api_mode api;
	double max_overhead; /* see struct live_model_options */
	struct stack_choice stacks;
	struct live_model_limits limits;
	enum log_level log_level;
};

extern const struct option_table top_options;

/*
 * Parses the command line. Returns an enum option_result, or -EINVAL (-ENOMEM) with a message in
 * `err` (exit status 2). The caller always calls top_options__clear.
 */
int top_options__parse(struct top_options *options, int argc, char **argv, struct error *err);
/* What is to be seen at first. */
struct top_view top_options__view(const struct top_options *options);
void top_options__clear(struct top_options *options);

#endif
