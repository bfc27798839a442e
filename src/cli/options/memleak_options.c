// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe memleak`, see memleak_options.h.
#include "cli/options/memleak_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define PROGRAM "gpuprobe memleak"
#define SIZE_MAX_BYTES (1ull << 60)

static const char help[] =
	"Usage: gpuprobe memleak [OPTIONS] [INTERVAL [COUNT]] [-- COMMAND [ARG...]]\n"
	"\n"
	"Shows live device memory by the call stacks that allocated it, largest first,\n"
	"every INTERVAL seconds [5], COUNT times, and which of it grows: of the whole\n"
	"machine, the processes of -p, or COMMAND and its descendants. What a process\n"
	"that ends has not freed is reported as leaked, by stack.\n"
	"\n"
	"  -p, --pid PID           only this process and its children (repeatable)\n"
	"  -a, --show-allocs       each allocation, too: address, size, age\n"
	"  -o, --older AGE         leave out what is younger: milliseconds, or with its\n"
	"                          unit, 2s, 1m [500ms]\n"
	"  -T, --top N             call sites shown of a process; 0: all [10]\n"
	"  -z, --min-size BYTES    only allocations of at least this size: 4096, 1M\n"
	"  -Z, --max-size BYTES    only allocations of at most this size\n"
	"  --min-count N           only call sites with so many live allocations\n"
	"  --window TIME           judge growth over the last so long: 30s, 10m [60s]\n"
	"  --duration S            stop after S seconds\n"
	"  --json                  one JSON object a report instead of text\n"
	"  --api auto|driver|runtime|both\n"
	"                          layers to probe [auto]\n"
	"  --libcudart-path FILE   probe this library too (repeatable)\n"
	"  --libcuda-path FILE     the same\n"
	"\n"
	"Call stacks:\n" STACK_MODE_NEEDED_HELP
	"\n"
	"Capacities (what does not fit is counted as lost and shown):\n"
	"  --max-processes N       processes at a time [4096]\n"
	"  --max-allocations N     live allocations [1048576]\n"
	"\n"
	"  -v, --verbose           say more on stderr (twice: even more)\n"
	"  -q, --quiet             no warnings\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n";

enum option_id {
	OPT_MIN_COUNT = 256,
	OPT_WINDOW,
	OPT_DURATION,
	OPT_JSON,
	OPT_API,
	OPT_LIBRARY,
	OPT_MAX_PROCESSES,
	OPT_MAX_ALLOCATIONS,
};

static const struct option long_options[] = {
	{"pid", required_argument, NULL, 'p'},
	{"show-allocs", no_argument, NULL, 'a'},
	{"older", required_argument, NULL, 'o'},
	{"top", required_argument, NULL, 'T'},
	{"min-size", required_argument, NULL, 'z'},
	{"max-size", required_argument, NULL, 'Z'},
	{"min-count", required_argument, NULL, OPT_MIN_COUNT},
	{"window", required_argument, NULL, OPT_WINDOW},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"json", no_argument, NULL, OPT_JSON},
	{"api", required_argument, NULL, OPT_API},
	{"libcudart-path", required_argument, NULL, OPT_LIBRARY},
	{"libcuda-path", required_argument, NULL, OPT_LIBRARY},
	STACK_MODE_OPTIONS,
	{"max-processes", required_argument, NULL, OPT_MAX_PROCESSES},
	{"max-allocations", required_argument, NULL, OPT_MAX_ALLOCATIONS},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

void memleak_options__print_help(FILE *out)
{
	fputs(help, out);
}

/* Minutes, a plain number being milliseconds as with bcc's tool, or what arguments__time takes. */
static int parse_age(const char *text, uint64_t *ns, struct error *err)
{
	if (arguments__in_unit(text, "m", 60e9, ns) || arguments__in_unit(text, "", NS_PER_MS, ns) ||
	    !arguments__time("-o, --older", text, ns, err))
		return 0;
	return error__set(err, -EINVAL, "-o, --older '%.100s': give milliseconds, or a time such as 500ms, 2s or 1m", text);
}

static int take_filter(struct memleak_command *options, int id, const char *text, struct error *err)
{
	unsigned long number = 0;
	int ret;

	switch (id) {
	case 'o':
		return parse_age(text, &options->filter.older_ns, err);
	case 'T':
		ret = arguments__number("-T, --top", text, 0, 1000000, &number, err);
		options->output.top = (unsigned int)number;
		return ret;
	case 'z':
		return arguments__size("-z, --min-size", text, 0, SIZE_MAX_BYTES, &options->filter.min_bytes, err);
	case 'Z':
		return arguments__size("-Z, --max-size", text, 1, SIZE_MAX_BYTES, &options->filter.max_bytes, err);
	case OPT_MIN_COUNT:
		ret = arguments__number("--min-count", text, 0, 1ul << 40, &number, err);
		options->output.min_count = number;
		return ret;
	}
	return -ENOENT;
}

static int take_option(struct memleak_command *options, int id, const char *text, struct error *err)
{
	int ret = take_filter(options, id, text, err);

	if (ret == -ENOENT)
		ret = stack_choice__take(&options->stacks, id, text, err);
	if (ret != -ENOENT)
		return ret;
	switch (id) {
	case 'a':
		options->output.show_allocations = true;
		return 0;
	case 'p':
		return targets__add_pid(&options->targets, text, err);
	case OPT_WINDOW:
		return arguments__window(text, &options->window_ns, err);
	case OPT_DURATION:
		return arguments__seconds("--duration", text, 0.001, &options->duration, err);
	case OPT_JSON:
		options->json = true;
		return 0;
	case OPT_API:
		return arguments__api(text, &options->api, err);
	case OPT_LIBRARY:
		return targets__add_library(&options->targets, text, err);
	case OPT_MAX_PROCESSES:
		return arguments__capacity("--max-processes", text, MAX_PROCESSES, &options->limits.max_processes, err);
	case OPT_MAX_ALLOCATIONS:
		return arguments__capacity("--max-allocations", text, MAX_ENTRIES, &options->limits.max_allocations, err);
	}
	return -EINVAL;
}

/* What stands in a number's place may be a program. */
static int say_where_command_goes(int ret, const char *word, struct error *err)
{
	struct error reason = *err;

	if (strspn(word, "+-.0123456789"))
		return ret;
	return error__set(err, ret, "%s; put -- before a COMMAND", reason.text);
}

/* INTERVAL and COUNT, from where the options have ended up to "--". */
static int take_interval(struct memleak_command *options, int argc, char **argv, struct error *err)
{
	int ret;

	if (optind >= argc || !strcmp(argv[optind - 1], "--"))
		return 0;
	ret = arguments__seconds("INTERVAL", argv[optind++], 0.01, &options->interval, err);
	if (!ret && options->interval <= 0)
		ret = error__set(err, -EINVAL, "INTERVAL '%.100s': give seconds from 0.01 to 1000000000, such as 5 or 0.5",
				 argv[optind - 1]);
	if (!ret && optind < argc && argv[optind][0] != '-')
		ret = arguments__number("COUNT", argv[optind++], 1, 1ul << 40, &options->count, err);
	return ret ? say_where_command_goes(ret, argv[optind - 1], err) : 0;
}

static int take_options(struct memleak_command *options, int argc, char **argv, struct error *err)
{
	int id, ret;

	/* "+": what follows COMMAND is COMMAND's; ":": a missing value is told apart. */
	while ((id = getopt_long(argc, argv, "+:p:ao:T:z:Z:vqhV", long_options, NULL)) != -1) {
		if (id == 'h')
			return MEMLEAK_HELP;
		if (id == 'V')
			return MEMLEAK_VERSION;
		if (id == ':' || id == '?')
			return arguments__bad_option(id, argc, argv, long_options, PROGRAM, err);
		if (arguments__take_log_level(id, &options->log_level))
			continue;
		ret = take_option(options, id, optarg, err);
		if (ret)
			return ret;
	}
	return MEMLEAK_RUN;
}

int memleak_options__parse(struct memleak_command *options, int argc, char **argv, struct error *err)
{
	int ret, first;

	*options = (struct memleak_command){
		.interval = 5,
		.limits = COUNTING_LIMITS,
		.filter = {.older_ns = 500 * NS_PER_MS},
		.output = {.top = 10},
		.window_ns = GROWTH_WINDOW_NS,
		.log_level = LOG_WARN,
	};
	stack_choice__init(&options->stacks, STACK_FP);
	opterr = 0;
	optind = 0;
	ret = take_options(options, argc, argv, err);
	first = optind;
	if (ret == MEMLEAK_RUN)
		ret = take_interval(options, argc, argv, err);
	/* Options may follow the numbers: getopt_long goes on where it is told to. */
	if (ret == MEMLEAK_RUN && optind > first)
		ret = take_options(options, argc, argv, err);
	if (ret)
		return ret;
	if (options->filter.max_bytes && options->filter.max_bytes < options->filter.min_bytes)
		return error__set(err, -EINVAL, "--max-size is smaller than --min-size: no allocation is both");
	ret = stack_choice__check(&options->stacks, err);
	if (ret)
		return ret;
	options->output.older_ns = options->filter.older_ns;
	options->output.some_sizes = options->filter.min_bytes || options->filter.max_bytes;
	return targets__take_command(&options->targets, argc, argv, PROGRAM, err);
}

void memleak_options__clear(struct memleak_command *options)
{
	targets__clear(&options->targets);
}
