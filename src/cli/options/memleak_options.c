// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe memleak`, see memleak_options.h.
#include "cli/options/memleak_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/options/arguments.h"
#include "cli/options/shared_rows.h"
#include "finding/finding.h"

#define PROGRAM "gpuprobe memleak"
#define SIZE_MAX_BYTES (1ull << 60)

/*
 * The minimum age: a plain number in milliseconds, as in bcc's tool, or a time that arguments__time
 * accepts.
 */
static int take_age(const struct option_row *row, void *field, const char *text, struct error *err)
{
	uint64_t *ns = field;

	if (arguments__in_unit(text, "m", 60e9, ns) ||
	    arguments__in_unit(text, "", NS_PER_MS, ns) || !option__time(row, ns, text, err))
		return 0;
	return error__set(
		err, -EINVAL,
		"-o, --older '%.100s': give milliseconds, or a time such as 500ms, 2s or 1m", text);
}

/* The default, which another --stack may have changed. */
static int take_stack(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	struct stack_choice *choice = field;

	if (strcmp(text, "python") != 0)
		return stack_choice__take_row(row, field, text, err);
	choice->mode = STACK_FP;
	choice->given[OPT_STACK] = NULL;
	return 0;
}

static int take_level(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	enum memleak_levels *levels = field;

	(void)text;
	(void)err;
	*levels |= (enum memleak_levels)row->min;
	return 0;
}

static int positive(const char *name, const char *text, const double *interval, struct error *err)
{
	if (*interval > 0)
		return 0;
	return arguments__refuse_seconds(name, text, 0.01, err);
}

static int take_interval_option(const struct option_row *row, void *field, const char *text,
				struct error *err)
{
	int ret = option__seconds(row, field, text, err);

	return ret ? ret : positive("--interval", text, field, err);
}

#define AGE_NOT_GIVEN UINT64_MAX

#define FIELD(member) .offset = offsetof(struct memleak_command, member)
#define LIMIT(member) .offset = offsetof(struct memleak_command, limits.member)

static const struct option_row rows[] = {
	{"tensors", 0, NULL,
	 "show tensors of PyTorch by call site [those of\n"
	 "processes that have any]",
	 take_level, FIELD(output.levels), .min = MEMLEAK_TENSORS},
	{"segments", 0, NULL,
	 "show what frameworks take from CUDA, not their\n"
	 "tensors; with --tensors both",
	 take_level, FIELD(output.levels), .min = MEMLEAK_SEGMENTS},
	{"steps", 0, NULL,
	 "say how many tensors a step of the process makes;\n"
	 "watches launches and copies, which slows it down more",
	 option__flag, FIELD(steps)},
	{"show-allocs", 'a', NULL, "also list each allocation: address, size, age", option__flag,
	 FIELD(output.show_allocations)},
	{"older", 'o', "AGE",
	 "leave out younger allocations: milliseconds, or a time\n"
	 "with its unit such as 2s or 1m [500ms]",
	 take_age, FIELD(filter.older_ns)},
	{"top", 'T', "N", "call sites shown per process; 0 = all [10]", option__unsigned,
	 FIELD(output.top), .max = 1000000},
	{"min-size", 'z', "BYTES", "only allocations of at least this size: 4096, 1M", option__size,
	 FIELD(filter.min_bytes), .max = SIZE_MAX_BYTES},
	{"max-size", 'Z', "BYTES", "only allocations of at most this size", option__size,
	 FIELD(filter.max_bytes), .min = 1, .max = SIZE_MAX_BYTES},
	{"min-count", 0, "N", "only call sites with at least N live allocations", option__u64,
	 FIELD(output.min_count), .max = 1ul << 40},
	{"max-overhead", 0, "PERCENT|off",
	 "limit how much the stacks of tensors slow a thread\n"
	 "down to about this: where they cost more, take some of\n"
	 "them and estimate call sites; counts stay exact [off]",
	 shared_rows__take_overhead, FIELD(max_overhead)},
	{"window", 0, "TIME",
	 "time window for growth detection, such as 30s or 10m\n"
	 "[60s, or two thirds of the run if that is less]",
	 shared_rows__take_window, FIELD(window_ns)},
	{"interval", 0, "S", "seconds between reports, as INTERVAL [5]", take_interval_option,
	 FIELD(interval), .min = 0.01},
	{"count", 0, "N", "stop after N reports, as COUNT", option__u64, FIELD(count), .min = 1,
	 .max = 1ul << 40},
	{.rows = exact_rows, FIELD(output.form)},
	{"json", 0, NULL, "one JSON object per report instead of text", option__flag, FIELD(json)},
	{.help = "What to watch:"},
	{.rows = reading_rows, FIELD(input)},
	{.rows = process_rows, FIELD(targets)},
	{"duration", 0, "S", DURATION_HELP, option__seconds, FIELD(duration), .min = 0.001},
	{"api", 0, "auto|driver|runtime|both", API_HELP, option__word, FIELD(api),
	 WORDS(api_words)},
	{"oom-dir", 0, "DIR",
	 "also write each out-of-memory report to a file in DIR,\n"
	 "at most 20 files",
	 option__file, FIELD(oom_directory)},
	{.rows = library_rows, FIELD(targets)},
	{.help = "Call stacks:"},
	{"stack", 0, "python|fp|dwarf|auto",
	 STACK_HELP ";\npython: of tensors Python frames, else fp [python]", take_stack,
	 FIELD(stacks), .min = OPT_STACK},
	{.rows = stack_storage_rows, FIELD(stacks)},
	{.rows = all_frames_rows, FIELD(output.all_frames)},
	{.help = CAPACITIES},
	{"max-processes", 0, "N", "processes at a time [4096]", shared_rows__take_capacity,
	 LIMIT(max_processes), .max = MAX_PROCESSES},
	{"max-allocations", 0, "N", "live allocations [1048576]", shared_rows__take_capacity,
	 LIMIT(max_allocations), .max = MAX_ENTRIES},
	{"max-tensors", 0, "N", "live tensors [1048576]", shared_rows__take_capacity,
	 LIMIT(max_tensors), .max = MAX_ENTRIES},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table memleak_option_table = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe memleak [OPTIONS] [INTERVAL [COUNT]] [-- COMMAND [ARG...]]\n"
		"\n"
		"Shows live device memory by the call stacks that allocated it, largest first,\n"
		"and which of them grow, every INTERVAL seconds [5], COUNT times: on the whole\n"
		"machine, in the processes of -p, or in COMMAND and its descendants. When a\n"
		"process ends, memory that it did not free is reported as leaked, by stack.\n"
		"\n",
	.rows = rows,
};

/* A word in the place of a number may be a program. */
static int say_where_command_goes(int ret, const char *word, struct error *err)
{
	struct error reason = *err;

	if (strspn(word, "+-.0123456789"))
		return ret;
	return error__set(err, ret, "%s; put -- before a COMMAND", reason.text);
}

/* Takes INTERVAL and COUNT, from where the options ended up to "--". */
static int take_interval(struct memleak_command *options, int argc, char **argv, struct error *err)
{
	int ret;

	if (optind >= argc || !strcmp(argv[optind - 1], "--"))
		return 0;
	ret = arguments__seconds("INTERVAL", argv[optind++], 0.01, &options->interval, err);
	if (!ret)
		ret = positive("INTERVAL", argv[optind - 1], &options->interval, err);
	if (!ret && optind < argc && argv[optind][0] != '-')
		ret = arguments__number("COUNT", argv[optind++], 1, 1ul << 40, &options->count,
					err);
	return ret ? say_where_command_goes(ret, argv[optind - 1], err) : 0;
}

/* A recording has all live allocations of a call site as one sum. */
static int check_input(const struct memleak_command *options, struct error *err)
{
	const struct live_filter *filter = &options->filter;
	const char *given = filter->older_ns		     ? "--older" :
			    filter->min_bytes		     ? "--min-size" :
			    filter->max_bytes		     ? "--max-size" :
			    options->output.show_allocations ? "--show-allocs" :
							       NULL;

	if (!options->input.path || !given)
		return 0;
	return error__set(err, -EINVAL, "%s does not go with -i: a recording has sums by call site",
			  given);
}

/* How long the command line lets it run at most; 0: without end. */
static double run_seconds(const struct memleak_command *options)
{
	double reports = options->interval * (double)options->count;

	if (!reports || (options->duration && options->duration < reports))
		return options->duration;
	return reports;
}

int memleak_options__parse(struct memleak_command *options, int argc, char **argv,
			   struct error *err)
{
	int ret, first;

	*options = (struct memleak_command){
		.limits = LIVE_MODEL_LIMITS,
		.filter = {.older_ns = AGE_NOT_GIVEN},
		.output = {.top = 10},
		.log_level = LOG_WARN,
	};
	options->limits.max_tensors = options->limits.max_allocations;
	stack_choice__init(&options->stacks, STACK_FP);
	ret = option_table__parse(&memleak_option_table, options, argc, argv, err);
	first = optind;
	if (ret == OPTIONS_RUN)
		ret = take_interval(options, argc, argv, err);
	/* Options may follow the numbers. */
	if (ret == OPTIONS_RUN && optind > first)
		ret = option_table__parse_on(&memleak_option_table, options, argc, argv, err);
	if (ret)
		return ret;
	if (options->filter.max_bytes && options->filter.max_bytes < options->filter.min_bytes)
		return error__set(
			err, -EINVAL,
			"--max-size is smaller than --min-size: no allocation would be shown");
	ret = stack_choice__check(&options->stacks, err);
	if (ret)
		return ret;
	if (options->filter.older_ns == AGE_NOT_GIVEN)
		options->filter.older_ns = options->input.path ? 0 : 500 * NS_PER_MS;
	ret = check_input(options, err);
	if (ret)
		return ret;
	/* A recording gives its last report alone, unless an interval is given. */
	if (!options->interval && !options->input.path)
		options->interval = 5;
	if (!options->window_ns)
		options->window_ns = growth__window(run_seconds(options));
	options->output.verdict_ns = GROWTH_LEAST_NS(options->window_ns);
	if (options->output.levels == MEMLEAK_SEGMENTS)
		options->limits.max_tensors = 0;
	options->input.needs = options->output.levels == MEMLEAK_TENSORS ? NEEDS_TENSORS : 0;
	options->output.older_ns = options->filter.older_ns;
	options->output.some_sizes = options->filter.min_bytes || options->filter.max_bytes;
	ret = targets__take_command(&options->targets, argc, argv, PROGRAM, err);
	return ret ? ret :
		     recording_choice__check_targets(&options->input, &options->targets,
						     options->duration, err);
}

void memleak_options__clear(struct memleak_command *options)
{
	targets__clear(&options->targets);
}
