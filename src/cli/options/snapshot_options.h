/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe snapshot`. */
#ifndef CLI_SNAPSHOT_OPTIONS_H
#define CLI_SNAPSHOT_OPTIONS_H

#include "base/error.h"
#include "base/log.h"
#include "cli/options/option_table.h"
#include "cli/options/targets.h"
#include "cli/options/stack_options.h"

struct snapshot_options {
	struct targets targets; /* one process, or a command */
	struct stack_choice stacks;
	const char *file;  /* output file */
	double duration;   /* seconds; 0: until stopped */
	size_t max_events; /* to keep of tensors; 0: none */
	enum log_level log_level;
};

extern const struct option_table snapshot_options;

/*
 * Parses the command line. Returns an enum option_result, or -EINVAL with a message in `err` (exit
 * status 2). The caller always calls snapshot_options__clear.
 */
int snapshot_options__parse(struct snapshot_options *options, int argc, char **argv,
			    struct error *err);
void snapshot_options__clear(struct snapshot_options *options);

#endif
