// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe dump`, see dump_options.h.
#include "cli/options/dump_options.h"

#include <errno.h>
#include <getopt.h>

#include "base/clock.h"
#include "cli/options/arguments.h"
#include "cli/options/filter_options.h"
#include "cli/options/stack_options.h"
#include "cli/options/shared_rows.h"

#define PROGRAM "gpuprobe dump"
#define LONGEST_S 86400ull

/* A number without a unit is in seconds. */
static int take_again(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	uint64_t *ns = field;
	bool right = arguments__in_unit(text, "", (double)NS_PER_S, ns) ||
		     !option__time(row, ns, text, err);

	if (!right || *ns < NS_PER_MS || *ns > LONGEST_S * NS_PER_S)
		return error__set(
			err, -EINVAL,
			"--again '%.100s': give a time from 1ms to %llus, such as 5, 5s or 500ms",
			text, LONGEST_S);
	return 0;
}

#define FIELD(member) .offset = offsetof(struct dump_options, member)

static const struct option_row rows[] = {
	{"pid", 'p', "PID",
	 "this process, and its children that use CUDA\n"
	 "(repeatable) [every process that uses CUDA]",
	 shared_rows__take_pid, FIELD(targets)},
	{.rows = filter_rows, FIELD(targets)},
	{"again", 0, "TIME",
	 "dump again after this time (5, 5s, 500ms), to show\n"
	 "which threads have not moved",
	 take_again, FIELD(again_ns)},
	{.help = "What to show:"},
	{.rows = all_frames_rows, FIELD(all_frames)},
	/* the former name of --all-frames */
	{"native", 0, NULL, NULL, option__flag, FIELD(all_frames)},
	{"all", 0, NULL,
	 "list every thread; by default those that are neither\n"
	 "in CUDA nor run Python are only counted",
	 option__flag, FIELD(all)},
	{.rows = exact_rows, FIELD(form)},
	{"json", 0, NULL, "one JSON object, on one line", option__flag, FIELD(json)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table dump_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe dump [OPTIONS]\n"
		"\n"
		"Shows what each thread is doing now: the CUDA call that it is in, what it waits\n"
		"for, and its stack. Without -p it shows every process that uses CUDA. gpuprobe\n"
		"neither stops the processes nor places probes in them.\n"
		"\n",
	.rows = rows,
	.tail = "\n"
		"Exit status: 0 for success, 1 if something failed, 2 for a usage error.\n",
};

int dump_options__parse(struct dump_options *options, int argc, char **argv, struct error *err)
{
	int ret;

	*options = (struct dump_options){.log_level = LOG_WARN};
	ret = option_table__parse(&dump_options, options, argc, argv, err);
	if (!ret && optind < argc)
		return error__set(err, -EINVAL,
				  "unexpected '%.100s': give a process with -p PID, see " PROGRAM
				  " --help",
				  argv[optind]);
	return ret;
}

void dump_options__clear(struct dump_options *options)
{
	targets__clear(&options->targets);
}
