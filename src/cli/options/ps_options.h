/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe ps`. */
#ifndef CLI_PS_OPTIONS_H
#define CLI_PS_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "cli/options/targets.h"
#include "cli/options/option_table.h"
#include "cli/options/recording_options.h"

struct ps_options {
	struct targets targets;	       /* no libraries and no command */
	struct recording_choice input; /* the list is of a recording */
	bool tree;
	bool json;
	enum quantity_form form; /* of amounts of memory in text */
	enum log_level log_level;
};

extern const struct option_table ps_options;

/*
 * Returns an enum option_result, -EINVAL with a message, or -ENOMEM. The caller releases what it
 * has filled with ps_options__clear in any case.
 */
int ps_options__parse(struct ps_options *options, int argc, char **argv, struct error *err);
void ps_options__clear(struct ps_options *options);

#endif
