// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe record`: a trace whose lines go to a recording, or readings of the model; see
// subcommand.h.
#include "cli/commands/record_summary.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/trace_run.h"
#include "cli/options/record_options.h"

int record_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct record_command options;
	int ret = record_options__parse(&options, argc, argv, err);

	if (subcommand__is_done(ret, &record_option_table, status))
		goto out;
	ret = options.level == RECORDING_SUMMARY ? record_summary__run(&options, status, err) :
						   trace__run(&options.trace, status, err);
out:
	record_options__clear(&options);
	return ret;
}
