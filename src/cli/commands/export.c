// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe export`: a trace of a recording whose lines become a timeline; see subcommand.h.
#include "cli/commands/subcommand.h"
#include "cli/commands/trace_recorded.h"
#include "cli/options/export_options.h"

int export_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct trace_options options;
	int ret = export_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &export_option_table, status))
		ret = trace_recorded__run(&options, status, err);
	trace_options__clear(&options);
	return ret;
}
