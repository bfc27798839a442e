/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe trace`. */
#ifndef CLI_TRACE_OPTIONS_H
#define CLI_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/options/option_table.h"
#include "cli/options/stack_options.h"
#include "output/trace/output.h"
#include "trace/selection.h"

struct trace_options {
	struct targets targets;
	struct trace_selection *selection;
	struct trace_config config;	    /* all but wake_bytes and the cgroup, which is `cgroup` */
	struct trace_output_options output; /* format, timestamps, columns, entry_return */
	struct stack_choice stacks;	    /* min_wait_ns and sample are of no meaning here */
	const char *cgroup;		    /* as given, or NULL */
	const char *file;		    /* to write to, or NULL: stdout */
	uint64_t count;			    /* calls after which it ends; 0: never */
	double duration;		    /* seconds; 0: until stopped */
	uint32_t ring_bytes;		    /* a power of two of pages */
	bool lines;			    /* calls are shown as they happen */
	bool summary;			    /* and summed up at the end */
	bool full_names;
	bool no_returns; /* see struct selection */
	bool strict;	 /* losses make the exit status EXIT_LOST */
	bool quiet;	 /* -q, wherever it stands: no last line unless calls were lost */
	enum log_level log_level;
};

enum trace_options_result {
	TRACE_OPTIONS_SCHEMA = OPTIONS_VERSION + 1, /* --json-schema */
	TRACE_OPTIONS_LIST,			    /* --list-functions: of the selection */
};

extern const struct option_table trace_option_table;

/*
 * Parses the command line; argv[0] is "trace". Returns an enum option_result or trace_options_result, or a negative errno with a
 * line for a person in `err` (exit status 2). trace_options__clear releases it in any case.
 */
int trace_options__parse(struct trace_options *options, int argc, char **argv, struct error *err);
void trace_options__clear(struct trace_options *options);

/* Whether the column is among those that were chosen by -o. */
bool trace_options__shows(const struct trace_options *options, enum trace_column column);

#endif
