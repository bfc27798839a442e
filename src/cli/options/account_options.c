// SPDX-License-Identifier: BSD-2-Clause
// Parses the command lines of `gpuprobe stat` and `gpuprobe diagnose`, see account_options.h.
#include "cli/options/account_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/watch.h"
#include "model/growth.h"

#define STAT "gpuprobe stat"
#define DIAGNOSE "gpuprobe diagnose"

#define DIAGNOSE_OVERHEAD 0.02		/* docs/diagnosis.md has what it is in truth */
#define WINDOW_LEAST_NS (10 * NS_PER_S) /* unless it was asked for */

static const char stat_head[] =
	"Usage: " STAT " [OPTIONS] [-- COMMAND [ARG...]]\n"
	"\n"
	"The account of a run: what programs repeat (steps), who waits for whom, where\n"
	"the time of processes and threads goes, how long calls take, kernels, copies,\n"
	"memory, errors, and what is wrong. Of the whole machine, the processes of -p, or\n"
	"COMMAND and its descendants, until they have ended, Ctrl-C or --duration.\n"
	"\n"
	"  --interval S            the same every S seconds, too, of all so far [0: no]\n"
	"  --json                  one JSON object a report instead of text\n"
	"  -O, --output FILE       write to FILE, not among what COMMAND prints\n"
	"  --csv                   the tables as comma-separated values\n"
	"  --top N                 rows of a table, and processes; 0: all [10]\n"
	"  --full-names            whole demangled kernel names\n";

static const char diagnose_head[] =
	"Usage: " DIAGNOSE " [OPTIONS] [-- COMMAND [ARG...]]\n"
	"       " DIAGNOSE " --explain ID | --explain all | --list\n"
	"\n"
	"What is wrong with a program, by the evidence of its CUDA calls: what that\n"
	"costs, in all and in each of its steps, where it is, and what would help. Of the\n"
	"whole machine, the processes of -p, or COMMAND and its descendants, until they\n"
	"have ended, Ctrl-C or --duration.\n"
	"\n"
	"  --explain ID            what a finding means and what to do about it, or all\n"
	"  --list                  every kind of finding with its thresholds\n"
	"  --host on|off           follow threads that submit work, and those they wait\n"
	"                          for: why the GPU waits for them [on]\n"
	"  --host-rate N           samples of a thread a second of its CPU time [99]\n"
	"  --fail-on info|warning|critical\n"
	"                          exit with 4 if there are findings at least so bad\n"
	"  --interval S            the same every S seconds, too, of all so far [0: no]\n"
	"  --json                  one JSON object a report instead of text\n"
	"  -O, --output FILE       write to FILE, not among what COMMAND prints\n"
	"  --top N                 findings shown; 0: all [10]\n";

static const char shared_middle[] =
	"  --threshold ID=VALUE    when it is a finding: its first threshold, or with\n"
	"                          ID.NAME=VALUE another (repeatable)\n"
	"  --window TIME           judge growth over the last so long: 30s, 10m [60s, or\n"
	"                          two thirds of --duration, if that is less]\n"
	"  --idle-times FILE       write each time in which a process had nothing queued\n"
	"                          on a GPU, as CSV: CLOCK_BOOTTIME nanoseconds\n"
	"  --getters               probe calls that only ask, too (cudaGetDevice), for\n"
	"                          chatty-getters: who asks most pays most\n"
	"\n"
	"What to watch:\n"
	"  -p, --pid PID           only this process and its children (repeatable)\n"
	"  --duration S            stop after S seconds; COMMAND runs on [0: no]\n"
	"  --api auto|driver|runtime|both\n"
	"                          layers to probe [auto: the driver for everything, of\n"
	"                          the runtime allocation and free]\n";

static const char libraries[] =
	"  --libcudart-path FILE   probe this library too (repeatable)\n"
	"  --libcuda-path FILE     the same\n"
	"\n";

static const char stat_stacks[] = "Call stacks (none are taken unless asked for):\n" STACK_MODE_HELP STACK_CALL_HELP;

static const char diagnose_stacks[] =
	"Call stacks:\n"
	"  --stack fp|dwarf|auto|off\n"
	"                          how stacks are taken: by frame pointers, by copies\n"
	"                          to unwind, by copies where frame pointers lead\n"
	"                          nowhere, or not at all [fp]\n" STACK_STORAGE_HELP
	"  --min-wait TIME         take stacks of waits this long (ns, us, ms, s) [0]\n"
	"  --stack-sample N        of a kernel's launches from one place, the stack of\n"
	"                          the first and of one in N, a power of two [64]\n";

static const char diagnose_overhead[] =
	"  --max-overhead PERCENT|off\n"
	"                          keep the probes' cost to about this: where they would\n"
	"                          slow a thread down by more, watch launches for a part\n"
	"                          of the time and judge by that part [2]\n";

static const char shared_tail[] =
	"\n" COUNTING_HELP;

enum option_id {
	OPT_INTERVAL = 256,
	OPT_DURATION,
	OPT_JSON,
	OPT_CSV,
	OPT_TOP,
	OPT_FULL_NAMES,
	OPT_THRESHOLD,
	OPT_WINDOW,
	OPT_FAIL_ON,
	OPT_GETTERS,
	OPT_IDLE_TIMES,
	OPT_HOST,
	OPT_HOST_RATE,
	OPT_EXPLAIN,
	OPT_LIST,
	OPT_API,
	OPT_MAX_OVERHEAD,
	OPT_LIBRARY,
	OPT_MAX_PROCESSES,
	OPT_MAX_ALLOCATIONS,
	OPT_MAX_KERNELS,
	OPT_MAX_INFLIGHT,
};

#define SHARED_OPTIONS \
	{"interval", required_argument, NULL, OPT_INTERVAL}, {"json", no_argument, NULL, OPT_JSON}, \
		{"top", required_argument, NULL, OPT_TOP}, {"threshold", required_argument, NULL, OPT_THRESHOLD}, \
		{"window", required_argument, NULL, OPT_WINDOW}, {"getters", no_argument, NULL, OPT_GETTERS}, \
		{"idle-times", required_argument, NULL, OPT_IDLE_TIMES}, {"max-overhead", required_argument, NULL, OPT_MAX_OVERHEAD}, {"pid", required_argument, NULL, 'p'}, {"output", required_argument, NULL, 'O'}, \
		{"duration", required_argument, NULL, OPT_DURATION}, {"api", required_argument, NULL, OPT_API}, \
		{"libcudart-path", required_argument, NULL, OPT_LIBRARY}, \
		{"libcuda-path", required_argument, NULL, OPT_LIBRARY}, \
		{"max-processes", required_argument, NULL, OPT_MAX_PROCESSES}, \
		{"max-allocations", required_argument, NULL, OPT_MAX_ALLOCATIONS}, \
		{"max-kernels", required_argument, NULL, OPT_MAX_KERNELS}, \
		{"max-inflight", required_argument, NULL, OPT_MAX_INFLIGHT}, STACK_MODE_OPTIONS, STACK_CALL_OPTIONS, \
		{"verbose", no_argument, NULL, 'v'}, {"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, \
		{"version", no_argument, NULL, 'V'}, \
	{ \
		NULL, 0, NULL, 0 \
	}

static const struct option stat_options[] = {
	{"csv", no_argument, NULL, OPT_CSV},
	{"full-names", no_argument, NULL, OPT_FULL_NAMES},
	SHARED_OPTIONS,
};

static const struct option diagnose_options[] = {
	{"explain", required_argument, NULL, OPT_EXPLAIN},
	{"list", no_argument, NULL, OPT_LIST},
	{"fail-on", required_argument, NULL, OPT_FAIL_ON},
	{"host", required_argument, NULL, OPT_HOST},
	{"host-rate", required_argument, NULL, OPT_HOST_RATE},
	SHARED_OPTIONS,
};

void account_options__print_help(FILE *out, bool diagnose)
{
	fputs(diagnose ? diagnose_head : stat_head, out);
	fputs(shared_middle, out);
	fputs(diagnose ? diagnose_overhead : MAX_OVERHEAD_HELP, out);
	fputs(libraries, out);
	fputs(diagnose ? diagnose_stacks : stat_stacks, out);
	fputs(shared_tail, out);
}

static int take_form(struct account_command *options, enum account_form form, struct error *err)
{
	if (options->form && options->form != form)
		return error__set(err, -EINVAL, "--json and --csv do not go together: choose one");
	options->form = form;
	return 0;
}

static int take_fail_on(struct account_command *options, const char *text, struct error *err)
{
	static const char *const words[] = {
		[SEVERITY_INFO] = "info",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_CRITICAL] = "critical",
	};
	size_t which = 0;
	int ret = arguments__word("--fail-on", text, words, sizeof(words) / sizeof(*words), &which, err);

	options->fail_on = (int)which;
	return ret;
}

static int take_host(struct account_command *options, const char *text, struct error *err)
{
	static const char *const words[] = {"on", "off"};
	size_t which = 0;
	int ret = arguments__word("--host", text, words, sizeof(words) / sizeof(*words), &which, err);

	options->host = !ret && which == 0;
	return ret;
}

static int take_host_rate(struct account_command *options, const char *text, struct error *err)
{
	unsigned long number = 0;
	int ret = arguments__number("--host-rate", text, 1, 1000, &number, err);

	options->host_rate = (unsigned int)number;
	return ret;
}

static int take_shown(struct account_command *options, int id, const char *text, struct error *err)
{
	unsigned long number = 0;
	int ret;

	switch (id) {
	case OPT_JSON:
		return take_form(options, ACCOUNT_JSON, err);
	case OPT_CSV:
		return take_form(options, ACCOUNT_CSV, err);
	case 'O':
		return arguments__file("-O, --output", &options->file, text, err);
	case OPT_IDLE_TIMES:
		return arguments__file("--idle-times", &options->idle_file, text, err);
	case OPT_TOP:
		ret = arguments__number("--top", text, 0, 1000000, &number, err);
		options->output.top = (unsigned int)number;
		return ret;
	case OPT_FULL_NAMES:
		options->output.full_names = true;
		return 0;
	case OPT_INTERVAL:
		return arguments__seconds("--interval", text, 0.01, &options->interval, err);
	case OPT_THRESHOLD:
		return arguments__append(&options->thresholds, &options->threshold_count, text, err);
	case OPT_WINDOW:
		return arguments__window(text, &options->window_ns, err);
	case OPT_FAIL_ON:
		return take_fail_on(options, text, err);
	case OPT_EXPLAIN:
		return arguments__once("--explain", &options->explain, text, err);
	case OPT_LIST:
		options->list = true;
		return 0;
	}
	return -ENOENT;
}

static int take_watched(struct account_command *options, int id, const char *text, struct error *err)
{
	switch (id) {
	case 'p':
		return targets__add_pid(&options->targets, text, err);
	case OPT_GETTERS:
		options->getters = true;
		return 0;
	case OPT_HOST:
		return take_host(options, text, err);
	case OPT_HOST_RATE:
		return take_host_rate(options, text, err);
	case OPT_DURATION:
		return arguments__seconds("--duration", text, 0.001, &options->duration, err);
	case OPT_API:
		return arguments__api(text, &options->api, err);
	case OPT_MAX_OVERHEAD:
		options->overhead_by_default = false;
		return arguments__overhead(text, &options->max_overhead, err);
	case OPT_LIBRARY:
		return targets__add_library(&options->targets, text, err);
	case OPT_MAX_PROCESSES:
		return arguments__capacity("--max-processes", text, MAX_PROCESSES, &options->limits.max_processes, err);
	case OPT_MAX_ALLOCATIONS:
		return arguments__capacity("--max-allocations", text, MAX_ENTRIES, &options->limits.max_allocations, err);
	case OPT_MAX_KERNELS:
		return arguments__capacity("--max-kernels", text, MAX_ENTRIES, &options->limits.max_kernels, err);
	case OPT_MAX_INFLIGHT:
		return arguments__capacity("--max-inflight", text, MAX_ENTRIES, &options->limits.max_inflight, err);
	}
	return -ENOENT;
}

static int take_option(struct account_command *options, int id, const char *text, struct error *err)
{
	int ret = take_shown(options, id, text, err);

	if (ret == -ENOENT)
		ret = take_watched(options, id, text, err);
	return ret == -ENOENT ? stack_choice__take(&options->stacks, id, text, err) : ret;
}

/*
 * A verdict on growth takes five sixths of the window. What is loaded within a few seconds looks like
 * growth, so that a very short duration leaves it unjudged rather than shortening the window further.
 */
static uint64_t window_of(double duration)
{
	double window = duration * 2 / 3 * (double)NS_PER_S;

	if (!duration || window >= (double)GROWTH_WINDOW_NS)
		return GROWTH_WINDOW_NS;
	return window > WINDOW_LEAST_NS ? (uint64_t)window : WINDOW_LEAST_NS;
}

/* --explain and --list tell what is known of findings, and watch nothing. */
static int check_told(const struct account_command *options, struct error *err)
{
	if (options->explain && options->list)
		return error__set(err, -EINVAL, "--explain and --list do not go together: choose one");
	if ((options->explain || options->list) && (options->file || options->form))
		return error__set(err, -EINVAL, "%s is of reports, and --explain and --list are text",
				  options->file ? "--output" : "--json");
	if ((options->explain || options->list) && (options->targets.command || options->targets.pid_count))
		return error__set(err, -EINVAL, "%s watches nothing: leave the program away",
				  options->list ? "--list" : "--explain");
	if ((options->explain || options->list) && (options->fail_on != NO_FAIL || options->threshold_count))
		return error__set(err, -EINVAL, "%s looks for no findings: leave %s away",
				  options->list ? "--list" : "--explain",
				  options->threshold_count ? "--threshold" : "--fail-on");
	if (!options->explain || !strcmp(options->explain, "all") || finding_kind__find(options->explain))
		return 0;
	return finding_kind__unknown(options->explain, strlen(options->explain), err);
}

int account_options__parse(struct account_command *options, bool diagnose, int argc, char **argv, struct error *err)
{
	const char *program = diagnose ? DIAGNOSE : STAT;
	const struct option *options_table = diagnose ? diagnose_options : stat_options;
	int id, ret;

	*options = (struct account_command){
		.diagnose = diagnose,
		.host = diagnose,
		.max_overhead = diagnose ? DIAGNOSE_OVERHEAD : 0,
		.overhead_by_default = diagnose,
		.host_rate = HOST_RATE,
		.limits = COUNTING_LIMITS,
		.output = {.top = 10},
		.fail_on = NO_FAIL,
		.log_level = LOG_WARN,
	};
	stack_choice__init(&options->stacks, diagnose ? STACK_FP : STACK_OFF);
	options->stacks.needed = false;
	/* What stalls a program is many short waits. */
	if (diagnose)
		options->stacks.min_wait_ns = 0;
	opterr = 0;
	optind = 0; /* another argv than the last: begin anew */
	/* "+": what follows COMMAND is COMMAND's; ":": a missing value is told apart. */
	while ((id = getopt_long(argc, argv, "+:p:O:vqhV", options_table, NULL)) != -1) {
		if (id == 'h')
			return ACCOUNT_HELP;
		if (id == 'V')
			return ACCOUNT_VERSION;
		if (id == ':' || id == '?')
			return arguments__bad_option(id, argc, argv, options_table, program, err);
		if (arguments__take_log_level(id, &options->log_level))
			continue;
		ret = take_option(options, id, optarg, err);
		if (ret)
			return ret;
	}
	if (!options->window_ns)
		options->window_ns = window_of(options->duration);
	ret = stack_choice__check(&options->stacks, err);
	if (!ret)
		ret = targets__take_command(&options->targets, argc, argv, program, err);
	return ret ? ret : check_told(options, err);
}

void account_options__clear(struct account_command *options)
{
	targets__clear(&options->targets);
	free(options->thresholds);
}
