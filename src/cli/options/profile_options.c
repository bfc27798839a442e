// SPDX-License-Identifier: BSD-2-Clause
// Parses the command lines of `gpuprobe stat` and `gpuprobe diagnose`, see profile_options.h.
#include "cli/options/profile_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/options/arguments.h"
#include "cli/options/shared_rows.h"
#include "finding/finding.h"
#include "gpuprobe/nvtx.h"
#include "host/watch.h"
#include "model/growth.h"

#define STAT "gpuprobe stat"
#define DIAGNOSE "gpuprobe diagnose"

#define DIAGNOSE_OVERHEAD 0.02 /* docs/diagnosis.md has the measured overhead */

#define KINETO_DEFAULT_NS (2 * NS_PER_S)
#define KINETO_MIN_NS (10 * NS_PER_MS)
#define KINETO_MAX_NS (60 * NS_PER_S)

#define FIELD(member) .offset = offsetof(struct profile_command, member)

/* --- values --- */

static int take_form(const struct option_row *row, void *field, const char *text, struct error *err)
{
	enum profile_form *form = field, chosen = (enum profile_form)row->min;

	(void)text;
	if (*form && *form != chosen)
		return error__set(err, -EINVAL, "--json and --csv do not go together: choose one");
	*form = chosen;
	return 0;
}

/* Without a directory, the tables are the form of the report. The row's field is everything. */
static int take_csv(const struct option_row *row, void *field, const char *text, struct error *err)
{
	struct profile_command *options = field;

	if (text && !*text)
		return error__set(err, -EINVAL, "--csv '': give the name of a directory");
	if (text)
		return arguments__once("--csv", &options->csv_directory, text, err);
	return take_form(row, &options->form, text, err);
}

static const char *const host_words[] = {"on", "off"};

static int take_host(const struct option_row *row, void *field, const char *text, struct error *err)
{
	unsigned int which = 0;
	int ret = option__word(row, &which, text, err);

	*(bool *)field = which == 0;
	return ret;
}

/*
 * The row's field is the whole structure: a value on the command line also clears
 * overhead_by_default.
 */
static int take_overhead(const struct option_row *row, void *field, const char *text,
			 struct error *err)
{
	struct profile_command *options = field;

	options->overhead_by_default = false;
	return shared_rows__take_overhead(row, &options->max_overhead, text, err);
}

/* The row's field is the whole structure. */
static int take_gpu_times(const struct option_row *row, void *field, const char *text,
			  struct error *err)
{
	struct profile_command *options = field;

	(void)row;
	options->gpu_times = true;
	options->gpu_share = 0;
	return text ? arguments__share("--gpu-times", text, &options->gpu_share, err) : 0;
}

static int take_kineto(const struct option_row *row, void *field, const char *text,
		       struct error *err)
{
	uint64_t *ns = field;
	int ret = 0;

	(void)row;
	*ns = KINETO_DEFAULT_NS;
	if (text)
		ret = arguments__time("--kineto", text, ns, err);
	if (!ret && (*ns < KINETO_MIN_NS || *ns > KINETO_MAX_NS))
		ret = error__set(err, -EINVAL, "--kineto=%s: give a time from 10ms to 60s", text);
	return ret;
}

/* The row's field is the whole structure. */
static int take_steps_by(const struct option_row *row, void *field, const char *text,
			 struct error *err)
{
	struct profile_command *options = field;

	(void)row;
	if (!*text || strlen(text) >= NVTX_NAME_SIZE)
		return error__set(err, -EINVAL,
				  "--steps-by '%.20s': give the name of an NVTX range as --nvtx "
				  "shows it, of at most %d bytes",
				  text, NVTX_NAME_SIZE - 1);
	options->nvtx = true;
	return arguments__once("--steps-by", &options->steps_by, text, err);
}

/* --- rows of both commands --- */

static const struct option_row report_rows[] = {
	{"oom-dir", 0, "DIR",
	 "also write each out-of-memory report to a file in DIR,\n"
	 "at most 20 files",
	 option__file, FIELD(oom_directory)},
	{"interval", 0, "S",
	 "also print a cumulative report every S seconds\n"
	 "[0 = off]",
	 option__seconds, FIELD(interval), .min = 0.01},
	{.rows = exact_rows, FIELD(output.form)},
	{.rows = full_names_rows, FIELD(output.full_names)},
	{"json", 0, NULL, "one JSON object per report instead of text", take_form, FIELD(form),
	 .min = PROFILE_JSON},
	{"output", 'O', "FILE", OUTPUT_HELP, option__file, FIELD(file)},
	{0},
};

static const struct option_row watched_rows[] = {
	{"threshold", 0, "ID=VALUE", THRESHOLD_HELP, option__list, FIELD(thresholds)},
	{"window", 0, "TIME",
	 "time window for growth detection, such as 30s or 10m\n"
	 "[60s, or two thirds of --duration if that is less]",
	 shared_rows__take_window, FIELD(window_ns)},
	{"idle-times", 0, "FILE",
	 "write the times when a process had nothing queued on a\n"
	 "GPU to FILE, as CSV with CLOCK_BOOTTIME nanoseconds",
	 option__file, FIELD(idle_file)},
	{"getters", 0, NULL,
	 "also probe getters such as cudaGetDevice, to find\n"
	 "chatty-getters (costs about 1 us per call)",
	 option__flag, FIELD(getters)},
	{.help = "What to watch:"},
	{.rows = reading_rows, FIELD(input)},
	{.rows = process_rows, FIELD(targets)},
	{"duration", 0, "S", DURATION_HELP, option__seconds, FIELD(duration), .min = 0.001},
	{"api", 0, "auto|driver|runtime|both", API_HELP, option__word, FIELD(api),
	 WORDS(api_words)},
	{0},
};

static const struct option_row end_rows[] = {
	{.rows = capacity_rows, FIELD(limits)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

/* --- rows of one command --- */

#define TOP_ROW(text) \
	{ \
		"top", 'T', "N", text, option__unsigned, FIELD(output.top), .max = 1000000 \
	}

static const struct option_row stat_rows[] = {
	TOP_ROW("rows of each table, and processes; 0 = all [10]"),
	{.rows = report_rows},
	{"csv", 0, "[DIR]",
	 "comma-separated values instead of text; with DIR, the\n"
	 "report and at the end a file for each table in DIR,\n"
	 "such as DIR/kernels.csv",
	 take_csv, .offset = 0, .min = PROFILE_CSV},
	{.rows = watched_rows},
	{.rows = tensor_rows, FIELD(tensors)},
	{"gpu-times", 0, "[SHARE]",
	 "also show how long kernels and copies of COMMAND ran\n"
	 "on the GPU; loads a library into COMMAND (CUPTI);\n"
	 "SHARE, such as 5%, records that part of the time only\n"
	 "and estimates the rest",
	 take_gpu_times, .offset = 0},
	{"gpu-graph-nodes", 0, NULL,
	 "with --gpu-times, also of each kernel in CUDA graphs,\n"
	 "instead of graphs as wholes (costs more)",
	 option__flag, FIELD(gpu_graph_nodes)},
	{"kineto", 0, "[TIME]",
	 "with -p: have the PyTorch programs' own profiler\n"
	 "record for TIME, show GPU times as --gpu-times does,\n"
	 "and stop; the programs must have been started with\n"
	 "KINETO_USE_DAEMON=1 [2s]",
	 take_kineto, FIELD(kineto_ns)},
	{"nvtx", 0, NULL,
	 "also show what COMMAND did in each NVTX range; loads a\n"
	 "library into COMMAND",
	 option__flag, FIELD(nvtx)},
	{"by-range", 0, NULL, NULL, option__flag, FIELD(nvtx)},
	{"steps-by", 0, "RANGE",
	 "a step is an NVTX range of this name, such as 'step'\n"
	 "or 'DOMAIN: step'; implies --nvtx",
	 take_steps_by, .offset = 0},
	{.rows = overhead_rows, FIELD(max_overhead)},
	{.rows = library_rows, FIELD(targets)},
	{.help = "Call stacks (off by default):"},
	{.rows = stack_rows, FIELD(stacks)},
	{.rows = stack_call_rows, FIELD(stacks)},
	{.rows = all_frames_rows, FIELD(output.all_frames)},
	{.rows = end_rows},
	{0},
};

const struct option_table stat_options = {
	.program = STAT,
	.head = "Usage: " STAT " [OPTIONS] [-- COMMAND [ARG...]]\n"
		"\n"
		"Profiles a run: the steps that programs repeat, who waits for whom, where the\n"
		"time of processes and threads goes, how long calls take, kernels, copies,\n"
		"memory, errors, and what is wrong. It watches the whole machine, the processes\n"
		"of -p, or COMMAND and its descendants, until they end, Ctrl-C or --duration.\n"
		"\n",
	.rows = stat_rows,
};

static const char *const severity_words[] = {
	[SEVERITY_INFO] = "info",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_CRITICAL] = "critical",
};

static const struct option_row diagnose_rows[] = {
	{"explain", 0, "ID", "what a finding means and what to do about it, or all", option__once,
	 FIELD(explain)},
	{"list", 0, NULL, "every kind of finding with its thresholds", option__flag, FIELD(list)},
	{"host", 0, "on|off",
	 "follow threads that submit work, and those they wait\n"
	 "for, to show why the GPU waits for them [on]",
	 take_host, FIELD(host), WORDS(host_words)},
	{"host-rate", 0, "N", "samples per second of a thread's CPU time [99]", option__unsigned,
	 FIELD(host_rate), .min = 1, .max = 1000},
	{"fail-on", 0, "info|warning|critical", "exit with 4 if a finding is this severe or more",
	 option__word, FIELD(fail_on), WORDS(severity_words)},
	TOP_ROW("findings shown; 0 = all [10]"),
	{.rows = report_rows},
	{.rows = watched_rows},
	{"gpu-times", 0, NULL,
	 "judge by when kernels and copies of COMMAND really ran\n"
	 "on the GPU; loads a library into COMMAND (CUPTI)",
	 option__flag, FIELD(gpu_times)},
	{"max-overhead", 0, "PERCENT|off",
	 "limit how much probes slow a thread down to about\n"
	 "this: where they cost more, watch launches part of the\n"
	 "time and judge by that part [2]",
	 take_overhead, .offset = 0},
	{.rows = library_rows, FIELD(targets)},
	{.help = "Call stacks:"},
	{"stack", 0, "fp|dwarf|auto|off", STACK_HELP ";\noff: no stacks [fp]",
	 stack_choice__take_row, FIELD(stacks), .min = OPT_STACK},
	{.rows = stack_storage_rows, FIELD(stacks)},
	{"min-wait", 0, "TIME", "take stacks of waits this long (ns, us, ms, s) [0]",
	 stack_choice__take_row, FIELD(stacks), .min = OPT_MIN_WAIT},
	{.rows = stack_sample_rows, FIELD(stacks)},
	{.rows = all_frames_rows, FIELD(output.all_frames)},
	{.rows = end_rows},
	{0},
};

const struct option_table diagnose_options = {
	.program = DIAGNOSE,
	.head = "Usage: " DIAGNOSE " [OPTIONS] [-- COMMAND [ARG...]]\n"
		"       " DIAGNOSE " --explain ID | --explain all | --list\n"
		"\n"
		"Shows what is wrong with a program by the evidence of its CUDA calls: what it\n"
		"costs in total and per step, where it is, and what would help. It watches the\n"
		"whole machine, the processes of -p, or COMMAND and its descendants, until they\n"
		"end, Ctrl-C or --duration.\n"
		"\n",
	.rows = diagnose_rows,
};

/* --- parsing --- */

/* --explain and --list only describe findings and watch nothing. */
static int check_reported(const struct profile_command *options, struct error *err)
{
	if (options->explain && options->list)
		return error__set(err, -EINVAL,
				  "--explain and --list do not go together: choose one");
	if ((options->explain || options->list) && (options->file || options->form))
		return error__set(
			err, -EINVAL,
			"%s has no effect with --explain and --list, which print no report",
			options->file ? "--output" : "--json");
	if ((options->explain || options->list) &&
	    (options->targets.command || options->targets.pid_count))
		return error__set(err, -EINVAL, "%s watches nothing: leave out the program",
				  options->list ? "--list" : "--explain");
	if ((options->explain || options->list) &&
	    (options->fail_on != NO_FAIL || options->thresholds.count))
		return error__set(err, -EINVAL, "%s looks for no findings: leave out %s",
				  options->list ? "--list" : "--explain",
				  options->thresholds.count ? "--threshold" : "--fail-on");
	if (!options->explain || !strcmp(options->explain, "all") ||
	    finding_kind__find(options->explain))
		return 0;
	return finding_kind__unknown(options->explain, strlen(options->explain), err);
}

/* Only a program that gpuprobe starts gets a library. */
static int check_nvtx(const struct profile_command *options, struct error *err)
{
	const char *option = options->steps_by ? "--steps-by" : "--nvtx";

	if (options->steps_by && options->max_overhead > 0)
		return error__set(err, -EINVAL,
				  "--steps-by and --max-overhead do not go together: each step is "
				  "to have all its calls; leave out one of them");
	if (!options->nvtx || options->targets.command)
		return 0;
	if (options->input.path)
		return error__set(err, -EINVAL, "%s needs a run: it does not go with -i", option);
	return error__set(err, -EINVAL,
			  "%s needs COMMAND: NVTX looks for a library once, at its first call",
			  option);
}

static int check_gpu_times(const struct profile_command *options, struct error *err)
{
	if (options->gpu_graph_nodes && !options->gpu_times)
		return error__set(err, -EINVAL,
				  "--gpu-graph-nodes has no effect without --gpu-times");
	if (options->gpu_graph_nodes && options->gpu_share > 0)
		return error__set(err, -EINVAL,
				  "--gpu-graph-nodes does not go with a share of --gpu-times: how "
				  "often kernels in graphs run is known from their records alone");
	if (options->gpu_times && options->max_overhead > 0)
		return error__set(err, -EINVAL,
				  "--gpu-times and --max-overhead do not go together: each piece "
				  "of work is to have its call; leave out one of them");
	if (!options->gpu_times || options->targets.command)
		return 0;
	if (options->input.path)
		return error__set(err, -EINVAL, "--gpu-times needs a run: it does not go with -i");
	return error__set(err, -EINVAL,
			  "--gpu-times needs COMMAND: a running process is not injected into; "
			  "stat -p PID --kineto asks a PyTorch program that was started with "
			  "KINETO_USE_DAEMON=1, and without either stat and diagnose show when the "
			  "GPU had nothing to do");
}

static int check_kineto(const struct profile_command *options, struct error *err)
{
	if (!options->kineto_ns)
		return 0;
	if (options->gpu_times)
		return error__set(err, -EINVAL,
				  "--kineto and --gpu-times do not go together: one process has "
				  "one user of CUPTI; leave out one of them");
	if (options->input.path)
		return error__set(err, -EINVAL, "--kineto needs a run: it does not go with -i");
	if (options->targets.command)
		return error__set(err, -EINVAL,
				  "--kineto asks running processes: use --gpu-times for COMMAND");
	if (!options->targets.pid_count)
		return error__set(err, -EINVAL,
				  "--kineto needs -p PID: name the processes whose profiler is to "
				  "record");
	return 0;
}

static void set_defaults(struct profile_command *options, bool diagnose)
{
	*options = (struct profile_command){
		.diagnose = diagnose,
		.host = diagnose,
		.max_overhead = diagnose ? DIAGNOSE_OVERHEAD : 0,
		.overhead_by_default = diagnose,
		.host_rate = HOST_RATE,
		.limits = LIVE_MODEL_LIMITS,
		.output = {.top = 10},
		.fail_on = NO_FAIL,
		.log_level = LOG_WARN,
	};
	stack_choice__init(&options->stacks, diagnose ? STACK_FP : STACK_OFF);
	options->stacks.needed = false;
	/* A program can stall on many short waits. */
	if (diagnose)
		options->stacks.min_wait_ns = 0;
}

int profile_options__parse(struct profile_command *options, bool diagnose, int argc, char **argv,
			   struct error *err)
{
	const struct option_table *table = diagnose ? &diagnose_options : &stat_options;
	int ret;

	set_defaults(options, diagnose);
	ret = option_table__parse(table, options, argc, argv, err);
	if (ret)
		return ret;
	if (!options->window_ns)
		options->window_ns = growth__window(options->duration);
	if (options->tensors)
		options->limits.max_tensors = options->limits.max_allocations;
	options->input.needs =
		(options->tensors ? NEEDS_TENSORS : 0) | (options->getters ? NEEDS_GETTERS : 0);
	options->output.on_terminal = !options->file && isatty(STDOUT_FILENO);
	/* Each launch is to have its call. */
	if (options->gpu_times && options->overhead_by_default)
		options->max_overhead = 0;
	ret = stack_choice__check(&options->stacks, err);
	if (!ret)
		ret = targets__take_command(&options->targets, argc, argv, table->program, err);
	if (!ret && options->idle_file && options->input.path)
		ret = error__set(err, -EINVAL, "--idle-times needs a run: it does not go with -i");
	if (!ret)
		ret = check_kineto(options, err);
	if (!ret)
		ret = check_gpu_times(options, err);
	if (!ret)
		ret = check_nvtx(options, err);
	if (!ret)
		ret = recording_choice__check_targets(&options->input, &options->targets,
						      options->duration, err);
	return ret ? ret : check_reported(options, err);
}

void profile_options__clear(struct profile_command *options)
{
	targets__clear(&options->targets);
	free(options->thresholds.texts);
}
