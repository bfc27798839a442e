// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe help [COMMAND]`: the same text as `gpuprobe COMMAND --help`, see subcommand.h.
#include <errno.h>
#include <getopt.h>

#include "cli/commands/subcommand.h"
#include "cli/options/monitor_options.h"

#define PROGRAM "gpuprobe help"

static const struct option_row rows[] = {
	{.rows = help_rows},
	{0},
};

const struct option_table help_command_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe help [COMMAND]\n"
		"\n"
		"Prints the help text of gpuprobe, or of one of its commands.\n"
		"\n",
	.rows = rows,
};

static int print(int argc, char **argv, struct error *err)
{
	const struct subcommand *chosen;

	if (argc > 1)
		return error__set(err, -EINVAL, "unexpected '%.100s': see " PROGRAM " --help",
				  argv[1]);
	if (!argc) {
		option_table__print_help(&monitor_options, stdout);
		subcommand__print_all(stdout);
		return 0;
	}
	chosen = subcommand__find(argv[0], err);
	if (!chosen)
		return -EINVAL;
	option_table__print_help(chosen->options, stdout);
	return 0;
}

int help_command__run(int argc, char **argv, int *status, struct error *err)
{
	int nothing = 0;
	int ret = option_table__parse(&help_command_options, &nothing, argc, argv, err);

	if (subcommand__is_done(ret, &help_command_options, status))
		return ret < 0 ? ret : 0;
	ret = print(argc - optind, argv + optind, err);
	*status = ret ? EXIT_USAGE : 0;
	return ret;
}
