/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command lines of `gpuprobe stat` and `gpuprobe diagnose`, which watch the same calls and
 * differ in what they show.
 */
#ifndef CLI_PROFILE_OPTIONS_H
#define CLI_PROFILE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"
#include "cli/session/live_model.h"
#include "cli/options/recording_options.h"
#include "cli/options/stack_options.h"
#include "finding/finding.h"
#include "output/report/text.h"

enum profile_form {
	PROFILE_TEXT = 0,
	PROFILE_JSON,
	PROFILE_CSV, /* only for stat */
};

#define NO_FAIL (-1)

struct profile_command {
	bool diagnose;
	struct recording_choice input; /* a recording instead of programs */
	struct targets targets;
	double interval; /* seconds; 0: only at the end */
	double duration; /* seconds; 0: until stopped */
	enum api_mode api;
	struct live_model_limits limits;
	struct stack_choice stacks;
	enum profile_form form;
	struct report_options output;
	const char *file;	   /* output file; NULL: standard output; belongs to argv */
	const char *csv_directory; /* also gets a file a table; NULL: none; belongs to argv */
	const char *oom_directory; /* files of out-of-memory reports; NULL: none */
	const char *idle_file;	   /* file of idle times; NULL: none; belongs to argv */
	uint64_t window_ns;	   /* time window for growth detection */
	/* enum finding_severity: lowest severity that fails the run; NO_FAIL: none */
	int fail_on;
	double max_overhead;	       /* see struct live_model_options */
	bool overhead_by_default;      /* see struct live_model_options */
	bool host;		       /* follow threads that submit work; only for diagnose */
	unsigned int host_rate;	       /* samples a second */
	bool getters;		       /* also probe getters */
	bool tensors;		       /* watch tensors; only for stat */
	bool gpu_times;		       /* have COMMAND's GPU work timed */
	double gpu_share;	       /* of the time that this is done for; 0: all */
	bool gpu_graph_nodes;	       /* and that in graphs by kernel */
	uint64_t kineto_ns;	       /* let the processes' own profiler record so long; 0: no */
	bool nvtx;		       /* sum up by NVTX range; only for stat */
	const char *steps_by;	       /* the range that steps are; belongs to argv; NULL: none */
	struct option_list thresholds; /* "ID=VALUE"; belongs to argv */
	const char *explain;	       /* an id, or "all"; belongs to argv; NULL: not given */
	bool list;
	enum log_level log_level;
};

extern const struct option_table stat_options, diagnose_options;

/*
 * Parses the command line; argv[0] is "stat" or "diagnose". Returns an enum option_result, or
 * -EINVAL with a message in `err` (exit status 2). The caller always calls profile_options__clear.
 */
int profile_options__parse(struct profile_command *options, bool diagnose, int argc, char **argv,
			   struct error *err);
void profile_options__clear(struct profile_command *options);

#endif
