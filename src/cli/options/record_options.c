// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe record`, see record_options.h.
#include "cli/options/record_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/files/numbered_files.h"
#include "cli/options/arguments.h"
#include "cli/options/shared_rows.h"
#include "record/file.h"

#define INTERVAL 1.0
#define READINGS_OVERHEAD 0.02 /* as diagnose, whose findings are wanted */
#define FILE_MIN (1u << 20)    /* several chunks */
#define FILE_MAX (1ull << 60)
#define RING_MIN NS_PER_S
#define RING_MAX (24 * 3600 * NS_PER_S)
#define RING_FILES 8
#define RING_BYTES (64ull << 20)
#define RING_BYTES_MAX (1ull << 30) /* it is memory */

/* The structure that the table's offsets refer to. */
struct command_words {
	struct record_command command;
	struct option_list events;
	enum api_mode api;
	bool without_readings;
};

static int take_level(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	static const char *const words[] = {"summary", "calls"};
	size_t which;
	int ret = arguments__word("--level", text, words, sizeof(words) / sizeof(words[0]), &which,
				  err);

	(void)row;
	if (!ret)
		*(enum recording_level *)field = which ? RECORDING_CALLS : RECORDING_SUMMARY;
	return ret;
}

static int take_stack(const struct option_row *row, void *field, const char *text,
		      struct error *err)
{
	return stack_choice__take_row(row, field, text ? text : "fp", err);
}

static int take_overhead(const struct option_row *row, void *field, const char *text,
			 struct error *err)
{
	struct reading_choice *readings = field;

	readings->overhead_by_default = false;
	return shared_rows__take_overhead(row, &readings->max_overhead, text, err);
}

#define TRACE(member) .offset = offsetof(struct command_words, command.trace.member)
#define CHOICE(member) .offset = offsetof(struct command_words, command.choice.member)
#define WORD(member) .offset = offsetof(struct command_words, member)

static const struct option_row rows[] = {
	{"output", 'O', "FILE", "the recording (also -o); an existing file is replaced",
	 option__file, TRACE(file)},
	{NULL, 'o', "FILE", NULL, option__file, TRACE(file)},
	{"level", 0, "summary|calls",
	 "summary: readings of all counts, for -i of stat,\n"
	 "diagnose, memleak, flame, top, ps and the monitor;\n"
	 "calls: every call as well, for trace -i [calls]",
	 take_level, WORD(command.level)},
	{"no-readings", 0, NULL, "with --level calls: keep calls only, no readings", option__flag,
	 WORD(without_readings)},
	{"interval", 0, "S", "between two readings [1]", option__duration,
	 CHOICE(readings.interval), .min = 0.1},
	{.rows = tensor_rows, CHOICE(readings.tensors)},
	{"max-overhead", 0, "PERCENT|off",
	 "limit how much the probes of readings slow a thread\n"
	 "down to about this, by watching launches part of the\n"
	 "time [2]",
	 take_overhead, CHOICE(readings)},
	{"max-size", 0, "SIZE", "stop recording when the file is this large: 500M, 2G",
	 option__size, CHOICE(max_bytes), .min = FILE_MIN, .max = (double)FILE_MAX},
	{"ring", 0, "TIME",
	 "flight recorder: keep the last TIME (10m) in memory,\n"
	 "and write it to FILE.1, FILE.2, ... at SIGUSR1, at a\n"
	 "new finding (warning or worse), at an allocation that\n"
	 "fails for lack of memory, and at the end; --max-size\n"
	 "is for the memory and each file [64M]",
	 recording_choice__take_moment, CHOICE(ring_ns)},
	{"ring-files", 0, "N", "at most N files, then the oldest is replaced [8]", option__unsigned,
	 CHOICE(ring_files), .min = 1, .max = NUMBERED_FILES_MAX},
	{"anonymize", 0, NULL,
	 "replace names of users, commands, threads, kernels,\n"
	 "functions, files and containers: user-1, kernel-12;\n"
	 "leave out the machine's; pids and user ids stay",
	 option__flag, CHOICE(anonymize)},
	{"duration", 0, "S", DURATION_HELP, option__duration, TRACE(duration), .min = 0.001},
	{.help = "What to watch:"},
	{.rows = process_rows, TRACE(targets)},
	{.rows = gpu_times_rows, TRACE(gpu_times)},
	{.rows = library_rows, TRACE(targets)},
	{.help = "Which calls:"},
	{"events", 'e', "WORD,...", "families, functions and patterns, as in gpuprobe trace",
	 option__list, WORD(events)},
	{"api", 0, "runtime|driver|both", "layers to record [both]", shared_rows__take_layers,
	 WORD(api)},
	{"nested", 0, NULL, "also driver calls made inside a runtime call", option__byte_flag,
	 TRACE(config.nested)},
	{"failed", 0, NULL, "only calls that fail", option__byte_flag, TRACE(config.failed)},
	{"min-duration", 0, "TIME", "only calls at least this long: 1ms (ns, us, ms, s)",
	 option__time, TRACE(config.min_duration_ns)},
	{"nvtx", 0, NULL,
	 "also COMMAND's NVTX ranges and marks; loads a library\n"
	 "into COMMAND",
	 option__flag, TRACE(nvtx)},
	{"count", 0, "N", "stop after N calls", option__u64, TRACE(count), .min = 1,
	 .max = (double)LONG_MAX},
	{"stack", 0, "[fp|dwarf|auto|off]",
	 "also the call stack of each call;\n" STACK_HELP " [fp]", take_stack, TRACE(stacks),
	 .min = OPT_STACK},
	{.rows = stack_storage_rows, TRACE(stacks)},
	{"args", 0, "N", "also the first N arguments of kernels as 64-bit words", option__byte,
	 TRACE(config.kernel_args), .max = TRACE_ARGS_MAX},
	{.help = "Losses:"},
	{"buffer", 0, "SIZE", "size of the ring for pending calls, 64K to 2G [16M]",
	 trace_options__take_buffer, TRACE(ring_bytes), .min = BUFFER_MIN, .max = BUFFER_MAX},
	{"strict", 0, NULL,
	 "exit with 3 if a call was lost or a library got no\n"
	 "probes",
	 option__flag, TRACE(strict)},
	{.help = ""},
	{"verbose", 'v', NULL, "more messages on stderr (twice: even more)", option__verbose,
	 TRACE(log_level)},
	{"quiet", 'q', NULL, "no warnings, and no last line unless calls were lost",
	 trace_options__take_quiet, .offset = offsetof(struct command_words, command.trace)},
	{.rows = help_rows},
	{0},
};

const struct option_table record_option_table = {
	.program = "gpuprobe record",
	.head = "Usage: gpuprobe record -o FILE [OPTIONS] [[-p PID]... | -- COMMAND [ARG...]]\n"
		"\n"
		"Records what programs do with CUDA, to look at it later: stat, diagnose, trace\n"
		"and others show it with -i FILE, and gpuprobe export draws it.\n"
		"Records the whole machine, the processes of -p, or COMMAND and its descendants.\n",
	.rows = rows,
};

/* Joins the words of the command line with spaces; what does not fit is left out. */
static void join(char *text, size_t size, int argc, char **argv)
{
	size_t length = 0;

	for (int i = 0; i < argc; i++) {
		size_t word = strlen(argv[i]);

		if (length + word + 2 > size)
			return;
		if (i)
			text[length++] = ' ';
		memcpy(text + length, argv[i], word + 1);
		length += word;
	}
}

static int check_ring(struct record_choice *choice, struct error *err)
{
	if (!choice->ring_ns && choice->ring_files)
		return error__set(err, -EINVAL, "--ring-files is for --ring");
	if (!choice->ring_ns)
		return 0;
	if (choice->ring_ns < RING_MIN || choice->ring_ns > RING_MAX)
		return error__set(err, -EINVAL, "--ring: give a time from 1s to 24h");
	if (choice->max_bytes > RING_BYTES_MAX)
		return error__set(err, -EINVAL, "--max-size: with --ring at most 1G");
	if (!choice->max_bytes)
		choice->max_bytes = RING_BYTES;
	if (!choice->ring_files)
		choice->ring_files = RING_FILES;
	return 0;
}

/* What chooses calls, or says how they are recorded, has no effect on readings. */
static int check_summary(const struct command_words *words, struct error *err)
{
	const struct trace_options *trace = &words->command.trace;
	const char *given = words->events.count			? "--events" :
			    words->api != API_BOTH		? "--api" :
			    trace->config.nested		? "--nested" :
			    trace->config.failed		? "--failed" :
			    trace->config.min_duration_ns	? "--min-duration" :
			    trace->config.kernel_args		? "--args" :
			    trace->count			? "--count" :
			    trace->nvtx				? "--nvtx" :
			    trace->ring_bytes != BUFFER_DEFAULT ? "--buffer" :
			    trace->strict			? "--strict" :
								  NULL;

	return given ? error__set(err, -EINVAL, "%s is for --level calls", given) : 0;
}

/* What says how readings are made has no effect without them. */
static int check_calls(const struct record_command *command, struct error *err)
{
	const struct reading_choice *readings = &command->choice.readings;
	const char *given = readings->tensors		   ? "--tensors" :
			    !readings->overhead_by_default ? "--max-overhead" :
			    readings->interval != INTERVAL ? "--interval" :
							     NULL;

	return given ? error__set(err, -EINVAL, "%s is for readings: leave out --no-readings",
				  given) :
		       0;
}

/* As diagnose: a finding has its call site, and a program can stall on many short waits. */
static int settle_readings(struct record_command *command, struct error *err)
{
	struct reading_choice *readings = &command->choice.readings;
	struct stack_choice *stacks = &readings->stacks;

	*stacks = command->trace.stacks;
	/* Each piece of work is to have its call. */
	if (command->trace.gpu_times && !readings->overhead_by_default &&
	    readings->max_overhead > 0)
		return error__set(err, -EINVAL,
				  "--gpu-times and --max-overhead do not go together: each piece "
				  "of work is to have its call; leave out one of them");
	if (command->trace.gpu_times)
		readings->max_overhead = 0;
	if (!stacks->given[OPT_STACK])
		stacks->mode = STACK_FP;
	if (!stacks->given[OPT_MIN_WAIT])
		stacks->min_wait_ns = 0;
	return stack_choice__check(stacks, err);
}

static int settle_summary(struct record_command *command, const struct command_words *words,
			  struct error *err)
{
	int ret = check_summary(words, err);

	if (!ret && words->without_readings)
		ret = error__set(err, -EINVAL, "--no-readings is for --level calls");
	return ret ? ret : settle_readings(command, err);
}

static int settle_calls(struct record_command *command, const struct command_words *words,
			struct error *err)
{
	struct trace_options *options = &command->trace;
	int ret = trace_options__select(options, &words->events, words->api, err);

	if (ret)
		return ret;
	trace_options__choose_processes(options);
	options->lines = true;
	options->record = &command->choice;
	command->choice.readings.beside = !words->without_readings;
	return words->without_readings ? check_calls(command, err) : settle_readings(command, err);
}

static int settle(struct record_command *command, const struct command_words *words, int argc,
		  char **argv, struct error *err)
{
	struct trace_options *options = &command->trace;
	int ret = targets__take_command(&options->targets, argc, argv, record_option_table.program,
					err);

	if (!ret && !options->file)
		ret = error__set(err, -EINVAL, "give the file of the recording with -o FILE");
	if (!ret)
		ret = trace_options__check_gpu_times(options, err);
	if (!ret)
		ret = check_ring(&command->choice, err);
	if (!ret)
		ret = trace_options__check_nvtx(options, err);
	if (ret)
		return ret;
	return command->level == RECORDING_SUMMARY ? settle_summary(command, words, err) :
						     settle_calls(command, words, err);
}

int record_options__parse(struct record_command *command, int argc, char **argv, struct error *err)
{
	struct command_words words = {
		.command = {.trace = {.ring_bytes = BUFFER_DEFAULT, .log_level = LOG_WARN},
			    .choice = {.readings = {.interval = INTERVAL,
						    .max_overhead = READINGS_OVERHEAD,
						    .overhead_by_default = true}},
			    .level = RECORDING_CALLS},
		.api = API_BOTH,
	};
	int ret;

	join(words.command.choice.words, sizeof(words.command.choice.words), argc, argv);
	stack_choice__init(&words.command.trace.stacks, STACK_OFF);
	ret = option_table__parse(&record_option_table, &words, argc, argv, err);
	*command = words.command;
	if (!ret)
		ret = settle(command, &words, argc, argv, err);
	free(words.events.texts);
	return ret;
}

void record_options__clear(struct record_command *command)
{
	trace_options__clear(&command->trace);
}
