/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe record`. */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "base/error.h"
#include "cli/options/option_table.h"
#include "cli/options/trace_options.h"

struct record_command {
	struct trace_options trace; /* of --level calls; trace.record is `choice` */
	struct record_choice choice;
	enum recording_level level;
};

extern const struct option_table record_option_table;

/*
 * Parses the command line; argv[0] is "record". Returns an enum option_result, or a negative errno
 * with a message in `err` (exit status 2). The caller always calls record_options__clear.
 * `options` must not move afterwards.
 */
int record_options__parse(struct record_command *options, int argc, char **argv, struct error *err);
void record_options__clear(struct record_command *options);

#endif
