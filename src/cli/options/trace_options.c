// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe trace`, see trace_options.h.
#include "cli/options/trace_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/arguments.h"
#include "cli/options/shared_rows.h"

/* Options that can only be interpreted once the whole command line is known. */
struct given {
	struct option_list events, columns;
	const char *format;
	enum api_mode api;
	bool only_summary, also_summary, timestamps, list;
};

/* The structure that the table's offsets refer to. */
struct command_words {
	struct trace_options options;
	struct given given;
};

bool trace_options__shows(const struct trace_options *options, enum trace_column column)
{
	for (size_t i = 0; i < options->output.column_count; i++)
		if (options->output.columns[i] == column)
			return true;
	return false;
}

/* --- values --- */

/* The formats of timelines follow those of trace_output. */
#define TIMELINE_WORDS (TRACE_JSON + 1)
static const char *const format_words[] = {
	[TRACE_TABLE] = "table",
	[TRACE_TSV] = "tsv",
	[TRACE_JSON] = "json",
	[TIMELINE_WORDS + TIMELINE_PERFETTO] = "perfetto",
	[TIMELINE_WORDS + TIMELINE_CHROME] = "chrome",
};

static int take_timestamps(const struct option_row *row, void *field, const char *text,
			   struct error *err)
{
	struct command_words *words = field;

	words->given.timestamps = true;
	return option__word(row, &words->options.output.timestamps, text, err);
}

static int take_stack(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	return stack_choice__take_row(row, field, text ? text : "fp", err);
}

static int take_format(const struct option_row *row, void *field, const char *text,
		       struct error *err)
{
	struct command_words *words = field;
	unsigned int format = 0;
	int ret = option__word(row, &format, text, err);

	if (ret)
		return ret;
	words->options.draws = format >= TIMELINE_WORDS;
	if (words->options.draws)
		words->options.timeline = (enum timeline_format)(format - TIMELINE_WORDS);
	else
		words->options.output.format = (enum trace_format)format;
	return option__once(row, &words->given.format, text, err);
}

static int take_json(const struct option_row *row, void *field, const char *text, struct error *err)
{
	struct command_words *words = field;

	(void)row;
	(void)text;
	words->options.output.format = TRACE_JSON;
	return arguments__once("--format", &words->given.format, format_words[TRACE_JSON], err);
}

int trace_options__take_quiet(const struct option_row *row, void *field, const char *text,
			      struct error *err)
{
	struct trace_options *options = field;

	options->quiet = true;
	return option__quiet(row, &options->log_level, text, err);
}

/* A valid size is a power of two, in whole pages. */
int trace_options__take_buffer(const struct option_row *row, void *field, const char *text,
			       struct error *err)
{
	uint64_t bytes, rounded = (uint64_t)sysconf(_SC_PAGESIZE);
	int ret = option__size(row, &bytes, text, err);

	if (ret)
		return ret;
	while (rounded < bytes)
		rounded *= 2;
	*(uint32_t *)field = (uint32_t)rounded;
	return 0;
}

/* --- the table --- */

static const char *const timestamp_words[] = {
	[TIMESTAMPS_RELATIVE] = "relative", [TIMESTAMPS_WALL] = "wall",
	[TIMESTAMPS_ISO] = "iso",	    [TIMESTAMPS_NS] = "ns",
	[TIMESTAMPS_DELTA] = "delta",
};

#define FIELD(member) .offset = offsetof(struct command_words, options.member)
#define GIVEN(member) .offset = offsetof(struct command_words, given.member)
#define ALL .offset = 0 /* the whole structure, for options that set several fields */

static const struct option_row rows[] = {
	{.help = "Which calls:"},
	{"events", 'e', "WORD,...",
	 "families (memory launch copy sync stream event device\n"
	 "context module graph nccl errors all), functions,\n"
	 "patterns (cu*Async) and exclusions (!cudaGetDevice);\n"
	 "repeatable [memory, launch, copy, sync, stream, event\n"
	 "and device without getters]",
	 option__list, GIVEN(events)},
	{"list-functions", 0, NULL, "print the functions that are selected, and exit", option__flag,
	 GIVEN(list)},
	{"api", 0, "runtime|driver|both", "layers to trace [both]", shared_rows__take_layers,
	 GIVEN(api)},
	{"nested", 0, NULL, "also driver calls made inside a runtime call", option__byte_flag,
	 FIELD(config.nested)},
	{"failed", 0, NULL, "only calls that fail", option__byte_flag, FIELD(config.failed)},
	{"min-duration", 0, "TIME", "only calls at least this long: 1ms (ns, us, ms, s)",
	 option__time, FIELD(config.min_duration_ns)},
	{.rows = process_rows, FIELD(targets)},
	{"count", 0, "N", "stop after N calls", option__u64, FIELD(count), .min = 1,
	 .max = (double)LONG_MAX},
	{"duration", 0, "S", DURATION_HELP, option__duration, FIELD(duration), .min = 0.001},
	{"nvtx", 0, NULL,
	 "also COMMAND's NVTX ranges and marks; loads a library\n"
	 "into COMMAND",
	 option__flag, FIELD(nvtx)},
	{"no-return-probes", 0, NULL, "probe only the start of calls: no results, no times",
	 option__flag, FIELD(no_returns)},
	{.rows = gpu_times_rows, FIELD(gpu_times)},
	{.rows = library_rows, FIELD(targets)},
	{.rows = recording_rows, FIELD(input)},
	{.help = "How they are shown:"},
	{"columns", 'o', "COLUMN,...",
	 "columns: time end process pid ppid tid uid cgroup\n"
	 "device layer event details ptr size dst src kind bw\n"
	 "kernel grid block shmem stream args stack duration\n"
	 "result",
	 option__list, GIVEN(columns)},
	{"timestamps", 0, "relative|wall|iso|ns|delta", "[relative: milliseconds since the start]",
	 take_timestamps, ALL, WORDS(timestamp_words)},
	{"entry-return", 0, NULL, "two lines per call, at its start and at its return",
	 option__byte_flag, FIELD(config.entry_return)},
	{"stack", 0, "[fp|dwarf|auto|off]",
	 "add the call stack, in the table below each call;\n" STACK_HELP " [fp, as\n"
	 "-o stack]",
	 take_stack, FIELD(stacks), .min = OPT_STACK},
	{.rows = stack_storage_rows, FIELD(stacks)},
	{.rows = all_frames_rows, FIELD(output.all_frames)},
	{"args", 0, "N", "show the first N arguments of kernels as 64-bit words", option__byte,
	 FIELD(config.kernel_args), .max = TRACE_ARGS_MAX},
	{.rows = full_names_rows, FIELD(full_names)},
	{.rows = exact_rows, FIELD(output.form)},
	{"format", 0, "table|tsv|json|perfetto|chrome",
	 "[table]; json: one object per line; perfetto, chrome:\n"
	 "a timeline in the file of -O (or -o), see\n"
	 "gpuprobe export",
	 take_format, ALL, WORDS(format_words)},
	{"json", 0, NULL, "the same as --format json", take_json, ALL},
	{"json-schema", 0, NULL, "print the schema of --format json, and exit", option__result,
	 .min = TRACE_OPTIONS_SCHEMA},
	{"output", 'O', "FILE", OUTPUT_HELP, option__file, FIELD(file)},
	{"summary", 'c', NULL, "only a summary by function, at the end", option__flag,
	 GIVEN(only_summary)},
	{NULL, 'C', NULL, "the calls and then the summary", option__flag, GIVEN(also_summary)},
	{.help = "Losses:"},
	{"buffer", 0, "SIZE", "size of the ring for pending calls, 64K to 2G [16M]",
	 trace_options__take_buffer, FIELD(ring_bytes), .min = BUFFER_MIN, .max = BUFFER_MAX},
	{"strict", 0, NULL,
	 "exit with 3 if a call was lost or a library got no\n"
	 "probes",
	 option__flag, FIELD(strict)},
	{.help = ""},
	{"verbose", 'v', NULL, "more messages on stderr (twice: even more)", option__verbose,
	 FIELD(log_level)},
	{"quiet", 'q', NULL, "no warnings, and no last line unless calls were lost",
	 trace_options__take_quiet, .offset = offsetof(struct command_words, options)},
	{.rows = help_rows},
	{0},
};

const struct option_table trace_option_table = {
	.program = "gpuprobe trace",
	.head = "Usage: gpuprobe trace [OPTIONS] [[-p PID]... | -- COMMAND [ARG...]]\n"
		"       gpuprobe trace -i FILE [OPTIONS]\n"
		"\n"
		"Shows every CUDA call as it happens, decoded, one per line: on the whole\n"
		"machine, in the processes of -p, or in COMMAND and its descendants. With -i,\n"
		"shows those of a recording.\n",
	.rows = rows,
};

/* --- the whole command line --- */

/*
 * The columns of -o. A timeline has none: there -o names the file, as it does for other commands
 * that write one.
 */
static int settle_columns(struct trace_options *options, const struct option_list *columns,
			  struct error *err)
{
	int ret = 0;

	if (options->draws && columns->count) {
		if (options->file || columns->count > 1)
			return error__set(err, -EINVAL, "a timeline goes to one file: give one -O");
		options->file = columns->texts[0];
		return 0;
	}
	for (size_t i = 0; i < columns->count && !ret; i++)
		ret = trace_output__parse_columns(&options->output, columns->texts[i], err);
	return ret ? error__prefix(err, ret, "-o") : 0;
}

/* Whether --stack was given. */
static bool gives_stack(const struct trace_options *options)
{
	return options->stacks.given[0];
}

static int contradiction(const char *one, const char *other, const char *why, struct error *err)
{
	return error__set(err, -EINVAL, "%s and %s do not go together: %s", one, other, why);
}

static int check_combination(const struct trace_options *options, const struct given *given,
			     struct error *err)
{
	static const char early[] = "the result of a call is not known when it begins";
	static const char no_return[] = "the result of a call is known when it returns";
	static const char no_lines[] =
		"a summary has no lines to apply it to; -C prints the lines as well";

	if (given->only_summary && given->also_summary)
		return contradiction("-c", "-C", "choose one", err);
	if (options->config.entry_return && options->config.failed)
		return contradiction("--entry-return", "--failed", early, err);
	if (options->config.entry_return && options->config.min_duration_ns)
		return contradiction("--entry-return", "--min-duration", early, err);
	if (options->no_returns && options->config.entry_return)
		return contradiction("--no-return-probes", "--entry-return", no_return, err);
	if (options->no_returns && options->config.failed)
		return contradiction("--no-return-probes", "--failed", no_return, err);
	if (options->no_returns && options->config.min_duration_ns)
		return contradiction("--no-return-probes", "--min-duration", no_return, err);
	if (gives_stack(options) && options->stacks.mode == STACK_OFF &&
	    trace_options__shows(options, COLUMN_STACK))
		return contradiction("--stack off", "-o stack", "the column would be empty", err);
	if (!given->only_summary)
		return 0;
	if (options->gpu_times)
		return contradiction("-c", "--gpu-times", "gpuprobe stat --gpu-times sums up", err);
	if (options->config.entry_return)
		return contradiction("-c", "--entry-return", no_lines, err);
	if (options->output.column_count)
		return contradiction("-c", "-o", no_lines, err);
	if (given->timestamps)
		return contradiction("-c", "--timestamps", no_lines, err);
	if (options->stacks.mode != STACK_OFF)
		return contradiction("-c", "--stack", no_lines, err);
	return options->config.kernel_args ? contradiction("-c", "--args", no_lines, err) : 0;
}

/* Options that choose what lines of text look like, or without which no call has a length. */
static int check_timeline(const struct trace_options *options, const struct given *given,
			  struct error *err)
{
	static const char no_text[] = "a timeline has no lines of text";
	static const char both[] = "a timeline draws each call from its start to its return";
	const char *format =
		options->timeline == TIMELINE_PERFETTO ? "--format perfetto" : "--format chrome";

	if (!options->draws)
		return 0;
	if (given->only_summary || given->also_summary)
		return contradiction(format, given->only_summary ? "-c" : "-C", no_text, err);
	if (given->timestamps)
		return contradiction(format, "--timestamps", no_text, err);
	if (options->stacks.mode != STACK_OFF)
		return contradiction(format, "--stack", "gpuprobe flame draws call stacks", err);
	if (options->config.entry_return)
		return contradiction(format, "--entry-return", both, err);
	return options->no_returns ? contradiction(format, "--no-return-probes", both, err) : 0;
}

int trace_options__check_nvtx(const struct trace_options *options, struct error *err)
{
	if (!options->nvtx || options->targets.command)
		return 0;
	return error__set(err, -EINVAL,
			  "--nvtx needs COMMAND: NVTX looks for a library once, at its first call");
}

static int check_nvtx(const struct trace_options *options, const struct given *given,
		      struct error *err)
{
	if (options->nvtx && given->only_summary)
		return contradiction("--nvtx", "-c", "a summary is of calls", err);
	if (options->nvtx && options->input.path)
		return contradiction("--nvtx", "-i", "record --nvtx records the ranges", err);
	return trace_options__check_nvtx(options, err);
}

/* Options that only a running program can answer. */
static int check_input(const struct trace_options *options, struct error *err)
{
	static const char recorded[] = "the calls of a recording have been made";
	const struct targets *targets = &options->targets;
	int ret = recording_choice__check(&options->input, err);

	if (ret || !options->input.path)
		return ret;
	if (options->gpu_times)
		return contradiction("-i", "--gpu-times",
				     "gpuprobe record --gpu-times records them", err);
	if (targets->command)
		return contradiction("-i", "COMMAND", recorded, err);
	if (options->duration > 0)
		return contradiction("-i", "--duration", "--to TIME ends it", err);
	if (options->no_returns)
		return contradiction("-i", "--no-return-probes", recorded, err);
	if (options->config.entry_return)
		return contradiction("-i", "--entry-return", "each call was recorded once", err);
	if (options->config.kernel_args)
		return contradiction("-i", "--args", "gpuprobe record --args records them", err);
	return 0;
}

int trace_options__check_gpu_times(const struct trace_options *options, struct error *err)
{
	return !options->gpu_times || options->targets.command ?
		       0 :
		       error__set(err, -EINVAL,
				  "--gpu-times needs COMMAND: a running process is not injected "
				  "into");
}

int trace_options__select(struct trace_options *options, const struct option_list *events,
			  enum api_mode api, struct error *err)
{
	int ret = 0;

	options->chooses_functions = events->count || api != API_BOTH;
	options->selection = trace_selection__new(api);
	if (!options->selection)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < events->count && !ret; i++)
		ret = trace_selection__add(options->selection, events->texts[i], err);
	if (!ret)
		ret = trace_selection__check(options->selection, err);
	return ret ? error__prefix(err, ret, "-e") : 0;
}

/*
 * The stack column turns stacks on. Stacks turn the column on, or in the table lines below the
 * calls.
 */
static void choose_stacks(struct trace_options *options)
{
	struct trace_output_options *output = &options->output;
	bool shown = trace_options__shows(options, COLUMN_STACK);

	if (!gives_stack(options) && shown)
		options->stacks.mode = STACK_FP;
	if (options->stacks.mode == STACK_OFF || shown)
		return;
	if (output->format == TRACE_TABLE)
		output->stack_below = true;
	else if (output->column_count)
		output->columns[output->column_count++] = COLUMN_STACK;
	else
		output->adds_stack = true;
}

/* The container and the pod are judged by the lines' processes. */
void trace_options__choose_processes(struct trace_options *options)
{
	const struct process_filter *filter = &options->targets.filter;
	struct trace_config *config = &options->config;

	if (filter->comm) {
		config->by_comm = 1;
		memcpy(config->comm, filter->comm, strnlen(filter->comm, sizeof(config->comm) - 1));
	}
	config->by_uid = filter->user != NULL;
	config->uid = filter->uid;
}

/* Runs after all options were taken. */
static int settle(struct trace_options *options, const struct given *given, int argc, char **argv,
		  struct error *err)
{
	int ret = targets__take_command(&options->targets, argc, argv, trace_option_table.program,
					err);

	if (!ret)
		ret = settle_columns(options, &given->columns, err);
	if (!ret)
		ret = check_combination(options, given, err);
	if (!ret)
		ret = check_timeline(options, given, err);
	if (!ret)
		ret = check_nvtx(options, given, err);
	if (!ret)
		ret = check_input(options, err);
	if (!ret)
		ret = trace_options__check_gpu_times(options, err);
	if (!ret)
		ret = trace_options__select(options, &given->events, given->api, err);
	if (ret)
		return ret;
	options->lines = !given->only_summary;
	options->summary = given->only_summary || given->also_summary;
	options->output.entry_return = options->config.entry_return;
	choose_stacks(options);
	trace_options__choose_processes(options);
	return given->list ? TRACE_OPTIONS_LIST : OPTIONS_RUN;
}

int trace_options__parse(struct trace_options *options, int argc, char **argv, struct error *err)
{
	struct command_words words = {
		.options = {.ring_bytes = BUFFER_DEFAULT, .log_level = LOG_WARN},
		.given = {.api = API_BOTH},
	};
	int ret;

	stack_choice__init(&words.options.stacks, STACK_OFF);
	ret = option_table__parse(&trace_option_table, &words, argc, argv, err);
	if (!ret)
		ret = settle(&words.options, &words.given, argc, argv, err);
	*options = words.options;
	free(words.given.events.texts);
	free(words.given.columns.texts);
	return ret;
}

void trace_options__clear(struct trace_options *options)
{
	targets__clear(&options->targets);
	trace_selection__free(options->selection);
	options->selection = NULL;
}
