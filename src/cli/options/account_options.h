/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe account`. */
#ifndef CLI_ACCOUNT_OPTIONS_H
#define CLI_ACCOUNT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "account/account.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"

struct account_command {
	struct targets targets;
	struct option_list inputs; /* recordings; none: live */
	enum account_by by;
	int64_t since_ns; /* CLOCK_REALTIME; 0: all */
	uint64_t idle_ns; /* a GPU without a call for so long is idle */
	double interval;  /* seconds between reports; 0: only the last one */
	double duration;  /* seconds; 0: until stopped */
	bool json;
	bool csv;
	enum quantity_form form;
	double max_overhead; /* a fraction; 0: no limit */
	bool overhead_by_default;
	enum log_level log_level;
};

extern const struct option_table account_options;

/*
 * Parses the command line. Returns an enum option_result, or -EINVAL (-ENOMEM) with a message in
 * `err` (exit status 2). The caller always calls account_options__clear.
 */
int account_options__parse(struct account_command *options, int argc, char **argv,
			   struct error *err);
void account_options__clear(struct account_command *options);

#endif
