// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe trace`, see trace_options.h.
#include "cli/options/trace_options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/user_name.h"

#define PROGRAM "gpuprobe trace"
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

#define BUFFER_DEFAULT (16u << 20)
#define BUFFER_MIN (64u << 10)
#define BUFFER_MAX (2ul << 30) /* the largest power of two that a BPF map can be made with */

static const char help[] =
	"Usage: gpuprobe trace [OPTIONS] [[-p PID]... | -- COMMAND [ARG...]]\n"
	"\n"
	"Shows every CUDA call as it happens, decoded, one line each: of the whole\n"
	"machine, the processes of -p, or COMMAND and its descendants.\n"
	"\n"
	"Which calls:\n"
	"  -e, --events WORD,...   families (memory launch copy sync stream event device\n"
	"                          context module graph errors all), functions, patterns\n"
	"                          (cu*Async), and what to leave out (!cudaGetDevice);\n"
	"                          repeatable [memory, launch, copy, sync, stream, event\n"
	"                          and device without getters]\n"
	"  --list-functions        print the functions that this selects, and end\n"
	"  --api runtime|driver|both\n"
	"                          layers to trace [both]\n"
	"  --nested                the driver's calls inside one of the runtime, too\n"
	"  --failed                only calls that fail\n"
	"  --min-duration TIME     only calls that take so long: 1ms (ns, us, ms, s)\n"
	"  -p, --pid PID           only this process and its children (repeatable)\n"
	"  --comm NAME             only processes of this name\n"
	"  --uid USER              only this user's processes: a number or a name\n"
	"  --cgroup PATH           only this control group, below /sys/fs/cgroup (v2)\n"
	"  --count N               end after N calls\n"
	"  --duration S            end after S seconds\n"
	"  --no-return-probes      watch calls as they begin: no results, no times\n"
	"  --libcudart-path FILE   probe this library too (repeatable)\n"
	"  --libcuda-path FILE     the same\n"
	"\n"
	"How they are shown:\n"
	"  -o COLUMN,...           of time end process pid ppid tid uid cgroup device\n"
	"                          layer event details ptr size dst src kind bw kernel\n"
	"                          grid block shmem stream args stack duration result\n"
	"  --timestamps relative|wall|iso|ns|delta\n"
	"                          [relative: milliseconds since the beginning]\n"
	"  --entry-return          two lines a call, when it begins and when it returns\n"
	"  --stack [fp|dwarf|auto|off]\n"
	"                          one column more, stack: who called, found by frame\n"
	"                          pointers, by copies that are unwound, or by copies\n"
	"                          where frame pointers lead nowhere [fp, as -o stack]\n"
	"  --stack-size 8|16|32    KiB of stack copied for dwarf and auto [16]\n"
	"  --stack-storage-size N  distinct stacks kept [16384]\n"
	"  --args N                the first N arguments of kernels, as 64-bit words\n"
	"  --full-names            whole demangled kernel names\n"
	"  --format table|tsv|json [table]; json: one object a line\n"
	"  --json-schema           print the schema of --format json, and end\n"
	"  -O FILE                 write to FILE\n"
	"  -c, --summary           only a summary by function, at the end\n"
	"  -C                      the calls and then the summary\n"
	"\n"
	"Losses:\n"
	"  --buffer SIZE           of the ring for calls that wait, 64K to 2G [16M]\n"
	"  --strict                exit status 3 if a call was lost, or a library got no\n"
	"                          probes\n"
	"\n"
	"  -v, --verbose           say more on stderr (twice: even more)\n"
	"  -q, --quiet             no warnings, and no last line unless calls were lost\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n";

enum option_id {
	OPT_API = 256,
	OPT_NESTED,
	OPT_FAILED,
	OPT_MIN_DURATION,
	OPT_COMM,
	OPT_UID,
	OPT_CGROUP,
	OPT_COUNT,
	OPT_DURATION,
	OPT_NO_RETURNS,
	OPT_LIBRARY,
	OPT_TIMESTAMPS,
	OPT_ENTRY_RETURN,
	OPT_ARGS,
	OPT_FULL_NAMES,
	OPT_FORMAT,
	OPT_JSON_SCHEMA,
	OPT_LIST_FUNCTIONS,
	OPT_BUFFER,
	OPT_STRICT,
};

static const struct option long_options[] = {
	{"events", required_argument, NULL, 'e'},
	{"api", required_argument, NULL, OPT_API},
	{"nested", no_argument, NULL, OPT_NESTED},
	{"failed", no_argument, NULL, OPT_FAILED},
	{"min-duration", required_argument, NULL, OPT_MIN_DURATION},
	{"pid", required_argument, NULL, 'p'},
	{"comm", required_argument, NULL, OPT_COMM},
	{"uid", required_argument, NULL, OPT_UID},
	{"cgroup", required_argument, NULL, OPT_CGROUP},
	{"count", required_argument, NULL, OPT_COUNT},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"no-return-probes", no_argument, NULL, OPT_NO_RETURNS},
	{"libcudart-path", required_argument, NULL, OPT_LIBRARY},
	{"libcuda-path", required_argument, NULL, OPT_LIBRARY},
	{"timestamps", required_argument, NULL, OPT_TIMESTAMPS},
	{"entry-return", no_argument, NULL, OPT_ENTRY_RETURN},
	{"stack", optional_argument, NULL, OPT_STACK},
	{"stack-size", required_argument, NULL, OPT_STACK_SIZE},
	{"stack-storage-size", required_argument, NULL, OPT_STACK_STORAGE_SIZE},
	{"args", required_argument, NULL, OPT_ARGS},
	{"full-names", no_argument, NULL, OPT_FULL_NAMES},
	{"format", required_argument, NULL, OPT_FORMAT},
	{"json-schema", no_argument, NULL, OPT_JSON_SCHEMA},
	{"summary", no_argument, NULL, 'c'},
	{"list-functions", no_argument, NULL, OPT_LIST_FUNCTIONS},
	{"buffer", required_argument, NULL, OPT_BUFFER},
	{"strict", no_argument, NULL, OPT_STRICT},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

/* What stands on the command line and has its meaning only with the rest of it. */
struct given {
	const char **events; /* of -e */
	size_t event_count;
	const char *comm, *uid, *format;
	enum api_mode api;
	bool only_summary, also_summary, timestamps, list, stack;
};

void trace_options__print_help(FILE *out)
{
	fputs(help, out);
}

bool trace_options__shows(const struct trace_options *options, enum trace_column column)
{
	for (size_t i = 0; i < options->output.column_count; i++)
		if (options->output.columns[i] == column)
			return true;
	return false;
}

/* --- values --- */

static int parse_api(struct given *given, const char *text, struct error *err)
{
	static const char *const words[] = {"runtime", "driver", "both"};
	static const enum api_mode modes[] = {API_RUNTIME, API_DRIVER, API_BOTH};
	size_t which = 0;
	int ret = arguments__word("--api", text, words, COUNT(words), &which, err);

	given->api = modes[which];
	return ret;
}

static int parse_format(struct trace_options *options, const char *text, struct error *err)
{
	static const char *const words[] = {[TRACE_TABLE] = "table", [TRACE_TSV] = "tsv", [TRACE_JSON] = "json"};
	size_t which = 0;
	int ret = arguments__word("--format", text, words, COUNT(words), &which, err);

	options->output.format = (enum trace_format)which;
	return ret;
}

static int parse_timestamps(struct trace_options *options, const char *text, struct error *err)
{
	static const char *const words[] = {
		[TIMESTAMPS_RELATIVE] = "relative",
		[TIMESTAMPS_WALL] = "wall",
		[TIMESTAMPS_ISO] = "iso",
		[TIMESTAMPS_NS] = "ns",
		[TIMESTAMPS_DELTA] = "delta",
	};
	size_t which = 0;
	int ret = arguments__word("--timestamps", text, words, COUNT(words), &which, err);

	options->output.timestamps = (enum trace_timestamps)which;
	return ret;
}

/* The kernel keeps no more of a longer name, so no more is compared. */
static int parse_comm(struct trace_options *options, const char *text, struct error *err)
{
	if (!*text)
		return error__set(err, -EINVAL, "--comm '': give the name of a process, as ps -e shows it");
	options->config.by_comm = 1;
	memset(options->config.comm, 0, sizeof(options->config.comm));
	memcpy(options->config.comm, text, strnlen(text, sizeof(options->config.comm) - 1));
	return 0;
}

static int parse_user(struct trace_options *options, const char *text, struct error *err)
{
	unsigned long number;
	uid_t uid;

	options->config.by_uid = 1;
	if (*text && strspn(text, "0123456789") == strlen(text)) {
		int ret = arguments__number("--uid", text, 0, UINT32_MAX - 1, &number, err);

		options->config.uid = (uint32_t)number;
		return ret;
	}
	if (user_name__to_uid(text, &uid))
		return error__set(err, -EINVAL, "--uid '%.100s': no user has this name; give a number or a name", text);
	options->config.uid = uid;
	return 0;
}

/* Rounded up to what a ring can be: a power of two of pages. */
static int parse_buffer(struct trace_options *options, const char *text, struct error *err)
{
	uint64_t bytes, rounded = (uint64_t)sysconf(_SC_PAGESIZE);
	int ret = arguments__size("--buffer", text, BUFFER_MIN, BUFFER_MAX, &bytes, err);

	if (ret)
		return ret;
	while (rounded < bytes)
		rounded *= 2;
	options->ring_bytes = (uint32_t)rounded;
	return 0;
}

static int parse_args(struct trace_options *options, const char *text, struct error *err)
{
	unsigned long number;
	int ret = arguments__number("--args", text, 0, TRACE_ARGS_MAX, &number, err);

	options->config.kernel_args = (uint8_t)number;
	return ret;
}

/* The mode may stand in the next word: no word but an option's value can stand there. */
static int parse_stack(struct trace_options *options, struct given *given, int argc, char **argv, struct error *err)
{
	const char *mode = optarg;

	if (!mode && optind < argc && *argv[optind] != '-')
		mode = argv[optind++];
	given->stack = true;
	return stack_choice__take(&options->stacks, OPT_STACK, mode ? mode : "fp", err);
}

static int take_value(struct trace_options *options, struct given *given, int id, const char *text, struct error *err)
{
	unsigned long number;
	int ret;

	switch (id) {
	case 'e':
		return arguments__append(&given->events, &given->event_count, text, err);
	case 'o':
		ret = trace_output__parse_columns(&options->output, text, err);
		return ret ? error__prefix(err, ret, "-o") : 0;
	case 'O':
		return arguments__file("-O", &options->file, text, err);
	case 'p':
		return targets__add_pid(&options->targets, text, err);
	case OPT_LIBRARY:
		return targets__add_library(&options->targets, text, err);
	case OPT_API:
		return parse_api(given, text, err);
	case OPT_MIN_DURATION:
		return arguments__time("--min-duration", text, (uint64_t *)&options->config.min_duration_ns, err);
	case OPT_COMM:
		ret = parse_comm(options, text, err);
		return ret ? ret : arguments__once("--comm", &given->comm, text, err);
	case OPT_UID:
		ret = parse_user(options, text, err);
		return ret ? ret : arguments__once("--uid", &given->uid, text, err);
	case OPT_CGROUP:
		return *text ? arguments__once("--cgroup", &options->cgroup, text, err) :
			       error__set(err, -EINVAL, "--cgroup '': give a control group's path: see systemd-cgls");
	case OPT_COUNT:
		ret = arguments__number("--count", text, 1, LONG_MAX, &number, err);
		options->count = number;
		return ret;
	case OPT_DURATION:
		ret = arguments__seconds("--duration", text, 0.001, &options->duration, err);
		if (!ret && options->duration == 0)
			return error__set(err, -EINVAL, "--duration '%.100s': give more than 0 seconds", text);
		return ret;
	case OPT_TIMESTAMPS:
		given->timestamps = true;
		return parse_timestamps(options, text, err);
	case OPT_STACK_SIZE:
	case OPT_STACK_STORAGE_SIZE:
		return stack_choice__take(&options->stacks, id, text, err);
	case OPT_ARGS:
		return parse_args(options, text, err);
	case OPT_FORMAT:
		ret = parse_format(options, text, err);
		return ret ? ret : arguments__once("--format", &given->format, text, err);
	case OPT_BUFFER:
		return parse_buffer(options, text, err);
	}
	return -EINVAL;
}

static bool take_flag(struct trace_options *options, struct given *given, int id)
{
	switch (id) {
	case 'c':
		given->only_summary = true;
		return true;
	case 'C':
		given->also_summary = true;
		return true;
	case OPT_LIST_FUNCTIONS:
		given->list = true;
		return true;
	case OPT_NESTED:
		options->config.nested = 1;
		return true;
	case OPT_FAILED:
		options->config.failed = 1;
		return true;
	case OPT_ENTRY_RETURN:
		options->config.entry_return = 1;
		return true;
	case OPT_NO_RETURNS:
		options->no_returns = true;
		return true;
	case OPT_FULL_NAMES:
		options->full_names = true;
		return true;
	case OPT_STRICT:
		options->strict = true;
		return true;
	}
	return false;
}

/* --- all together --- */

static int contradiction(const char *one, const char *other, const char *why, struct error *err)
{
	return error__set(err, -EINVAL, "%s and %s do not go together: %s", one, other, why);
}

static int check_combination(const struct trace_options *options, const struct given *given, struct error *err)
{
	static const char early[] = "what comes of a call is not known when it begins";
	static const char no_return[] = "what comes of a call is known at its return";
	static const char no_lines[] = "without lines there is nothing to apply it to; -C shows lines as well";

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
	if (given->stack && options->stacks.mode == STACK_OFF && trace_options__shows(options, COLUMN_STACK))
		return contradiction("--stack off", "-o stack", "the column would be empty", err);
	if (!given->only_summary)
		return 0;
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

static int select_functions(struct trace_options *options, const struct given *given, struct error *err)
{
	int ret = 0;

	options->selection = trace_selection__new(given->api);
	if (!options->selection)
		return error__set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < given->event_count && !ret; i++)
		ret = trace_selection__add(options->selection, given->events[i], err);
	if (!ret)
		ret = trace_selection__check(options->selection, err);
	return ret ? error__prefix(err, ret, "-e") : 0;
}

static int parse_words(struct trace_options *options, struct given *given, int argc, char **argv, struct error *err)
{
	int id, ret;

	/* "+": what follows COMMAND is COMMAND's; ":": a missing value is told apart. */
	while ((id = getopt_long(argc, argv, "+:e:o:O:cCp:vqhV", long_options, NULL)) != -1) {
		if (id == 'h')
			return TRACE_OPTIONS_HELP;
		if (id == 'V')
			return TRACE_OPTIONS_VERSION;
		if (id == OPT_JSON_SCHEMA)
			return TRACE_OPTIONS_SCHEMA;
		if (id == ':' || id == '?')
			return arguments__bad_option(id, argc, argv, long_options, PROGRAM, err);
		options->quiet |= id == 'q';
		if (arguments__take_log_level(id, &options->log_level) || take_flag(options, given, id))
			continue;
		if (id == OPT_STACK)
			ret = parse_stack(options, given, argc, argv, err);
		else
			ret = take_value(options, given, id, optarg, err);
		if (ret)
			return ret;
	}
	ret = targets__take_command(&options->targets, argc, argv, PROGRAM, err);
	if (!ret)
		ret = check_combination(options, given, err);
	if (!ret)
		ret = select_functions(options, given, err);
	return !ret && given->list ? TRACE_OPTIONS_LIST : ret;
}

/* The column brings stacks, and stacks bring the column. */
static void choose_stacks(struct trace_options *options, const struct given *given)
{
	struct trace_output_options *output = &options->output;
	bool shown = trace_options__shows(options, COLUMN_STACK);

	if (!given->stack && shown)
		options->stacks.mode = STACK_FP;
	if (options->stacks.mode == STACK_OFF || shown)
		return;
	if (output->column_count)
		output->columns[output->column_count++] = COLUMN_STACK;
	else
		output->adds_stack = true;
}

int trace_options__parse(struct trace_options *options, int argc, char **argv, struct error *err)
{
	struct given given = {.api = API_BOTH};
	int ret;

	*options = (struct trace_options){.ring_bytes = BUFFER_DEFAULT, .log_level = LOG_WARN};
	stack_choice__init(&options->stacks, STACK_OFF);
	opterr = 0;
	optind = 0; /* another argv than the last: begin anew */
	ret = parse_words(options, &given, argc, argv, err);
	options->lines = !given.only_summary;
	options->summary = given.only_summary || given.also_summary;
	options->output.entry_return = options->config.entry_return;
	choose_stacks(options, &given);
	free(given.events);
	return ret;
}

void trace_options__clear(struct trace_options *options)
{
	targets__clear(&options->targets);
	trace_selection__free(options->selection);
	options->selection = NULL;
}
