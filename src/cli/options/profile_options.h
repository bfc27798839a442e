/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command lines of `gpuprobe stat` and `gpuprobe diagnose`, which watch the
 * same and differ in what they show of it.
 */
#ifndef CLI_PROFILE_OPTIONS_H
#define CLI_PROFILE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/session/live_model.h"
#include "cli/options/stack_options.h"
#include "finding/finding.h"
#include "output/report/text.h"

enum profile_form {
	PROFILE_TEXT = 0,
	PROFILE_JSON,
	PROFILE_CSV, /* of stat alone */
};

#define NO_FAIL (-1)

struct profile_command {
	bool diagnose;
	struct targets targets;
	double interval; /* seconds; 0: at the end alone */
	double duration; /* seconds; 0: until stopped */
	enum api_mode api;
	struct live_model_limits limits;
	struct stack_choice stacks;
	enum profile_form form;
	struct report_options output;
	const char *file;	       /* to write to; NULL: standard output; argv's */
	const char *idle_file;	       /* of idle times; NULL: none; argv's */
	uint64_t window_ns;	       /* over which growth is judged */
	int fail_on;		       /* enum finding_severity: findings at least so bad fail the run; NO_FAIL: none does */
	double max_overhead;	       /* see struct live_model_options */
	bool overhead_by_default;      /* the same */
	bool host;		       /* threads that submit are followed; of diagnose alone */
	unsigned int host_rate;	       /* samples a second */
	bool getters;		       /* calls that only ask are probed as well */
	struct option_list thresholds; /* "ID=VALUE", argv's */
	const char *explain;	       /* an id, or "all"; argv's; NULL without */
	bool list;
	enum log_level log_level;
};

extern const struct option_table stat_options, diagnose_options;

/*
 * Parses the command line; argv[0] is "stat" or "diagnose". Returns an enum
 * option_result, or -EINVAL with a line for a person in `err` (exit status 2).
 * profile_options__clear releases it in any case.
 */
int profile_options__parse(struct profile_command *options, bool diagnose, int argc, char **argv, struct error *err);
void profile_options__clear(struct profile_command *options);

#endif
