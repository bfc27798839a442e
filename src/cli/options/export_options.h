/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe export`. */
#ifndef CLI_EXPORT_OPTIONS_H
#define CLI_EXPORT_OPTIONS_H

#include "cli/options/trace_options.h"

extern const struct option_table export_option_table;

/*
 * Parses the command line; argv[0] is "export". The options are those of a trace of a recording
 * whose lines become a timeline. Returns an enum option_result, or a negative errno with a message
 * in `err` (exit status 2). The caller always calls trace_options__clear.
 */
int export_options__parse(struct trace_options *options, int argc, char **argv, struct error *err);

#endif
