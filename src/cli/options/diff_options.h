/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `gpuprobe diff`. */
#ifndef CLI_DIFF_OPTIONS_H
#define CLI_DIFF_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "cli/options/option_table.h"

struct diff_options {
	const char *paths[2]; /* recordings or files of `stat --json`: A and B */
	unsigned int path_count;
	bool fails_on_worse; /* --fail-on worse */
	double share;	     /* as of comparison__make */
	const char *budget;  /* NULL: none */
	bool json, all;
	bool full_names; /* of kernels */
	enum quantity_form form;
	enum log_level log_level;
};

extern const struct option_table diff_options;

/* Returns an enum option_result, or -EINVAL with a message. There is nothing to release. */
int diff_options__parse(struct diff_options *options, int argc, char **argv, struct error *err);

#endif
