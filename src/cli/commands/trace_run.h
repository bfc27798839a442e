/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a trace with parsed options, for the commands trace and record. */
#ifndef CLI_TRACE_RUN_H
#define CLI_TRACE_RUN_H

#include "base/error.h"
#include "cli/options/trace_options.h"

/*
 * Attaches probes and passes lines on until the trace ends. Returns 0 or a negative errno with a
 * message; *status as in struct subcommand.
 */
int trace__run(const struct trace_options *options, int *status, struct error *err);

#endif
