/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of the monitor. */
#ifndef CLI_MONITOR_OPTIONS_H
#define CLI_MONITOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"
#include "cli/session/live_model.h"
#include "cli/options/recording_options.h"
#include "cli/options/stack_options.h"
#include "output/metrics/process_groups.h"
#include "probe/selection.h"
#include "serve/http.h"

struct monitor_options {
	unsigned int sections; /* enum section */
	bool chosen;	       /* the user selected sections, so that only these are shown */
	bool kernel_log;       /* read Xids from the kernel's log */
	bool verdict;	       /* keep the profile, which the verdicts on who waits for whom need */
	bool nccl;	       /* trace NCCL's calls, to judge its ranks */
	const char *metrics_address;
	bool metrics_address_given;
	unsigned int metrics_kernels;
	enum http_audience web; /* who gets the page for a person */
	bool web_given;
	const char *otlp_endpoint; /* a URL, or "none"; NULL: not given */
	enum metrics_by metrics_by;
	const char *oom_directory;     /* files of out-of-memory reports; NULL: none */
	double display_interval;       /* seconds; 0: only the final report */
	double duration;	       /* seconds; 0: until stopped */
	struct recording_choice input; /* a recording instead of programs */
	struct targets targets;
	enum api_mode api;
	bool check_launches;
	bool tensors;	     /* watch tensors */
	bool no_returns;     /* see struct selection */
	double max_overhead; /* see struct live_model_options */
	struct live_model_limits limits;
	struct stack_choice stacks;
	unsigned int top;
	bool top_given;
	bool full_names;
	enum quantity_form form;
	bool all_frames;
	bool json;
	bool service;		       /* log changes instead of printing reports */
	struct option_list thresholds; /* of findings: "ID=VALUE"; belongs to argv */
	enum log_level log_level;
};

extern const struct option_table monitor_options;

/*
 * Parses the command line. Returns an enum option_result, or -EINVAL with a message in `err` (exit
 * status 2). The caller always calls monitor_options__clear.
 */
int monitor_options__parse(struct monitor_options *options, int argc, char **argv,
			   struct error *err);
void monitor_options__clear(struct monitor_options *options);

#endif
