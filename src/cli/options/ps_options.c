// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe ps`, see ps_options.h.
#include "cli/options/ps_options.h"

#include <errno.h>
#include <getopt.h>

#include "cli/options/filter_options.h"
#include "cli/options/shared_rows.h"

#define PROGRAM "gpuprobe ps"

#define FIELD(member) .offset = offsetof(struct ps_options, member)

static const struct option_row rows[] = {
	{"pid", 'p', "PID",
	 "this process, and its children that use CUDA\n"
	 "(repeatable) [every process that uses CUDA]",
	 shared_rows__take_pid, FIELD(targets)},
	{.rows = filter_rows, FIELD(targets)},
	{.rows = moment_rows, FIELD(input)},
	{"tree", 0, NULL, "children below their parents", option__flag, FIELD(tree)},
	{"json", 0, NULL, "one JSON object, on one line", option__flag, FIELD(json)},
	{.rows = exact_rows, FIELD(form)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table ps_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe ps [OPTIONS]\n"
		"\n"
		"Lists the processes that use CUDA, those with the most GPU memory first: user,\n"
		"container, GPUs, memory, what they are doing, CUDA libraries. gpuprobe neither\n"
		"stops the processes nor places probes in them.\n"
		"\n",
	.rows = rows,
	.tail = "\n"
		"Exit status: 0 for success, also if no process uses CUDA; 1 if something failed;\n"
		"2 for a usage error.\n",
};

int ps_options__parse(struct ps_options *options, int argc, char **argv, struct error *err)
{
	int ret;

	*options = (struct ps_options){.log_level = LOG_WARN};
	ret = option_table__parse(&ps_options, options, argc, argv, err);
	if (!ret && optind < argc)
		return error__set(err, -EINVAL,
				  "unexpected '%.100s': give a process with -p PID, see " PROGRAM
				  " --help",
				  argv[optind]);
	return ret ? ret :
		     recording_choice__check_targets(&options->input, &options->targets, 0, err);
}

void ps_options__clear(struct ps_options *options)
{
	targets__clear(&options->targets);
}
