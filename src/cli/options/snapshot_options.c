// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe snapshot`, see snapshot_options.h.
#include "cli/options/snapshot_options.h"
#include "cli/options/shared_rows.h"

#include <errno.h>
#include <stddef.h>

#define PROGRAM "gpuprobe snapshot"

#define MAX_EVENTS 10000000

#define FIELD(member) .offset = offsetof(struct snapshot_options, member)

static const struct option_row rows[] = {
	{"pid", 'p', "PID", "the process", shared_rows__take_pid, FIELD(targets)},
	{"output", 'O', "FILE", "where to write, such as FILE.pickle; -o too", option__file,
	 FIELD(file)},
	{NULL, 'o', "FILE", NULL, option__file, FIELD(file)},
	{"duration", 0, "S", DURATION_HELP, option__duration, FIELD(duration), .min = 0.001},
	{"max-events", 0, "N", "the latest N allocations and frees; 0: none [100000]", option__u64,
	 FIELD(max_events), .max = MAX_EVENTS},
	{.rows = library_rows, FIELD(targets)},
	{.help = "Call stacks:"},
	{.rows = stack_needed_rows, FIELD(stacks)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table snapshot_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe snapshot -o FILE [OPTIONS] (-p PID | -- COMMAND [ARG...])\n"
		"\n"
		"Watches a process that uses PyTorch until Ctrl-C or --duration. Then it writes\n"
		"the segments and tensors that were made meanwhile and are still live, for\n"
		"PyTorch's memory visualiser (https://pytorch.org/memory_viz). Of COMMAND and its\n"
		"descendants it takes the process with the most bytes in tensors.\n"
		"\n",
	.rows = rows,
};

int snapshot_options__parse(struct snapshot_options *options, int argc, char **argv,
			    struct error *err)
{
	int ret;

	*options = (struct snapshot_options){.max_events = 100000, .log_level = LOG_WARN};
	stack_choice__init(&options->stacks, STACK_FP);
	ret = option_table__parse(&snapshot_options, options, argc, argv, err);
	if (ret)
		return ret;
	ret = targets__take_command(&options->targets, argc, argv, PROGRAM, err);
	if (ret)
		return ret;
	if (!options->file || options->targets.pid_count != !options->targets.command)
		return error__set(err, -EINVAL,
				  "give a file and one process or COMMAND: -o FILE.pickle -p PID, "
				  "see " PROGRAM " --help");
	return stack_choice__check(&options->stacks, err);
}

void snapshot_options__clear(struct snapshot_options *options)
{
	targets__clear(&options->targets);
}
