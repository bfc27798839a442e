// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe top`, see top_options.h.
#include "cli/options/top_options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cli/options/filter_options.h"
#include "cli/options/shared_rows.h"

#define PROGRAM "gpuprobe top"
#define TOP_INTERVAL 2.0

#define FIELD(member) .offset = offsetof(struct top_options, member)

static const struct option_row rows[] = {
	{"interval", 'd', "S", "seconds between readings, which rates are over [2]",
	 option__duration, FIELD(interval), .min = TOP_LEAST_INTERVAL},
	{.rows = reading_rows, FIELD(input)},
	{"count", 'n', "N", "end after N readings; 0 = no limit [0]", option__unsigned,
	 FIELD(count), .max = 1000000000},
	{"batch", 'b', NULL, "print text for scripts, without screen and keys", option__flag,
	 FIELD(batch)},
	{"sort", 0, "WORD", "memory, growth, launches, wait, copies or pid [memory]", option__word,
	 FIELD(sort), WORDS(top_sort_words)},
	{.rows = exact_rows, FIELD(form)},
	{.rows = full_names_rows, FIELD(full_names)},
	{.help = "What to watch:"},
	{"pid", 'p', "PID",
	 "only this process and its children (repeatable);\n"
	 "gpuprobe ends when they have all ended",
	 shared_rows__take_pid, FIELD(targets)},
	{.rows = filter_rows, FIELD(targets)},
	{"api", 0, "auto|driver|runtime|both",
	 "layers to probe [auto: the driver for everything, the\n"
	 "runtime for allocations and frees]",
	 option__word, FIELD(api), WORDS(api_words)},
	{.rows = overhead_rows, FIELD(max_overhead)},
	{.rows = library_rows, FIELD(targets)},
	{.help = "Call stacks (off by default), for memory by call site:"},
	{.rows = stack_rows, FIELD(stacks)},
	{.rows = stack_call_rows, FIELD(stacks)},
	{.rows = capacity_rows, FIELD(limits)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table top_options = {
	.program = PROGRAM,
	.head = "Usage: " PROGRAM " [OPTIONS]\n"
		"\n"
		"Shows the machine's GPUs and the processes that use them, as htop does: memory\n"
		"and its growth, launches, copies, waits, step time, proved idle time of GPUs,\n"
		"and who waits for whom. The key h explains keys and columns, Enter opens a\n"
		"process.\n"
		"\n",
	.rows = rows,
	.tail = "\n"
		"Exit status: 0 for success, 1 if something failed, 2 for a usage error.\n",
};

int top_options__parse(struct top_options *options, int argc, char **argv, struct error *err)
{
	int ret;

	*options = (struct top_options){
		.limits = LIVE_MODEL_LIMITS,
		.log_level = LOG_WARN,
	};
	stack_choice__init(&options->stacks, STACK_OFF);
	ret = option_table__parse(&top_options, options, argc, argv, err);
	if (!ret && !options->interval && !options->input.path)
		options->interval = TOP_INTERVAL;
	if (!ret)
		ret = recording_choice__check_targets(&options->input, &options->targets, 0, err);
	if (ret)
		return ret;
	/* Its output would be on the same screen. */
	if (optind < argc)
		return error__set(err, -EINVAL,
				  "unexpected '%.100s': top starts no program; start it elsewhere, "
				  "and watch it with -p PID",
				  argv[optind]);
	return stack_choice__check(&options->stacks, err);
}

struct top_view top_options__view(const struct top_options *options)
{
	return (struct top_view){
		.interval = options->interval,
		.sort = options->sort,
		.form = options->form,
		.full_names = options->full_names,
	};
}

void top_options__clear(struct top_options *options)
{
	targets__clear(&options->targets);
}
