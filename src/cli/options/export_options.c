// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe export`, see export_options.h.
#include "cli/options/export_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "cli/options/shared_rows.h"

/* The structure that the table's offsets refer to. */
struct command_words {
	struct trace_options options;
	struct option_list events;
	const char *format;
};

static const char *const format_words[] = {
	[TIMELINE_PERFETTO] = "perfetto",
	[TIMELINE_CHROME] = "chrome",
	[TIMELINE_KINETO] = "kineto",
};

static int take_format(const struct option_row *row, void *field, const char *text,
		       struct error *err)
{
	struct command_words *words = field;
	int ret = option__word(row, &words->options.timeline, text, err);

	return ret ? ret : option__once(row, &words->format, text, err);
}

#define OPTION(member) .offset = offsetof(struct command_words, options.member)
#define WHOLE .offset = 0

static const struct option_row rows[] = {
	{"input", 'i', "FILE", "the recording, of gpuprobe record", option__file,
	 OPTION(input.path)},
	{"to", 0, "perfetto|chrome|kineto",
	 "perfetto: for https://ui.perfetto.dev; chrome: JSON\n"
	 "for that and other viewers; kineto: JSON as PyTorch's\n"
	 "profiler writes it, for HTA and TensorBoard",
	 take_format, WHOLE, WORDS(format_words)},
	{"output", 'O', "FILE",
	 "the timeline (also -o); JSON is compressed by gzip\n"
	 "unless FILE ends in .json",
	 option__file, OPTION(file)},
	{NULL, 'o', "FILE", NULL, option__file, OPTION(file)},
	{"findings", 0, "FILE",
	 "mark when findings appeared by this recording of the\n"
	 "same run, such as one of --level summary [the file\n"
	 "of -i]",
	 option__file, OPTION(findings)},
	{.help = "Which calls:"},
	{"from", 0, "TIME",
	 "only from this time on, counted from the beginning:\n"
	 "90s, 5m",
	 recording_choice__take_moment, OPTION(input.from_ns)},
	{"until", 0, "TIME", "only up to this time", recording_choice__take_moment,
	 OPTION(input.to_ns)},
	{.rows = process_rows, OPTION(targets)},
	{"events", 'e', "WORD,...", "families, functions and patterns, as in gpuprobe trace",
	 option__list, .offset = offsetof(struct command_words, events)},
	{.rows = full_names_rows, OPTION(full_names)},
	{.help = ""},
	{"verbose", 'v', NULL, "more messages on stderr (twice: even more)", option__verbose,
	 OPTION(log_level)},
	{"quiet", 'q', NULL, "no warnings, and no last lines unless calls were lost",
	 trace_options__take_quiet, WHOLE},
	{.rows = help_rows},
	{0},
};

const struct option_table export_option_table = {
	.program = "gpuprobe export",
	.head = "Usage: gpuprobe export -i FILE --to perfetto|chrome|kineto -o FILE [OPTIONS]\n"
		"\n"
		"Draws the calls of a recording over time: a timeline of processes, threads and\n"
		"streams for a viewer. gpuprobe trace --format perfetto does so without a\n"
		"recording.\n",
	.rows = rows,
};

static int settle(struct command_words *words, int argc, struct error *err)
{
	struct trace_options *options = &words->options;
	const struct recording_choice *input = &options->input;

	if (optind < argc)
		return error__set(err, -EINVAL,
				  "export takes no command: -i FILE is the recording");
	if (!input->path)
		return error__set(err, -EINVAL, "give a recording with -i FILE");
	if (!words->format)
		return error__set(err, -EINVAL,
				  "give the form with --to perfetto, chrome or kineto");
	if (!options->file)
		return error__set(err, -EINVAL, "give the file of the timeline with -o FILE");
	if (input->to_ns && input->from_ns > input->to_ns)
		return error__set(err, -EINVAL, "--from is later than --until");
	options->draws = options->lines = true;
	options->config.nested = 1;
	options->nested_as_recorded = true;
	return trace_options__select(options, &words->events, API_BOTH, err);
}

int export_options__parse(struct trace_options *options, int argc, char **argv, struct error *err)
{
	struct command_words words = {.options = {.log_level = LOG_WARN}};
	int ret;

	stack_choice__init(&words.options.stacks, STACK_OFF);
	ret = option_table__parse(&export_option_table, &words, argc, argv, err);
	if (!ret)
		ret = settle(&words, argc, err);
	*options = words.options;
	free(words.events.texts);
	return ret;
}
