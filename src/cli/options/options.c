// SPDX-License-Identifier: BSD-2-Clause
// Parses the monitor's command line, see options.h.
#include "cli/options/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "serve/address.h"

#define DEFAULT_ADDRESS "0.0.0.0:9000"

static const char help[] =
	"Usage: gpuprobe [OPTIONS] [-- COMMAND [ARG...]]\n"
	"\n"
	"Watches the CUDA calls of running programs from outside, with eBPF uprobes:\n"
	"the whole machine, the processes of -p, or COMMAND and its descendants.\n"
	"\n"
	"What to watch (none of the three: all):\n"
	"  --memleak               memory: live allocations, frees, failures, leaks\n"
	"  --cudatrace             kernel launches by process and kernel\n"
	"  --bandwidth-util        copies: bytes, time and bandwidth by kind\n"
	"  -p, --pid PID           only this process and its children (repeatable); ends\n"
	"                          when all of them have\n"
	"  --api auto|driver|runtime|both\n"
	"                          layers to probe [auto: the driver for everything, of\n"
	"                          the runtime allocation and free]\n"
	"  --check-launches        look at the result of each launch (else one in 256)\n" MAX_OVERHEAD_HELP
	"  --verdict               keep the account that diagnose keeps: it proves who\n"
	"                          waits for whom, the GPU or the program\n"
	"  --no-return-probes      watch calls as they begin: no results, no times\n"
	"  --libcudart-path FILE   probe this library too (repeatable)\n"
	"  --libcuda-path FILE     the same\n"
	"\n"
	"What to show:\n"
	"  --display-interval S    seconds between reports; 0: only the final one [5]\n"
	"  --duration S            stop after S seconds\n"
	"  --top N                 longest lists shown; 0: everything [20]\n"
	"  --full-names            whole demangled kernel names\n"
	"  --json                  one JSON object a report instead of text\n"
	"  --threshold ID=VALUE    when it is a finding, or ID.NAME=VALUE (repeatable);\n"
	"                          gpuprobe diagnose --list has all of them\n"
	"  --metrics-addr A:P      OpenMetrics endpoint, or none [" DEFAULT_ADDRESS "]\n"
	"  --metrics-kernels N     kernels of a process with a series of their own [100]\n"
	"\n"
	"Call stacks (none are taken unless asked for):\n" STACK_MODE_HELP
		STACK_CALL_HELP
	"\n" COUNTING_HELP;

enum option_id {
	OPT_MEMLEAK = 256,
	OPT_CUDATRACE,
	OPT_BANDWIDTH,
	OPT_METRICS_ADDR,
	OPT_METRICS_KERNELS,
	OPT_DISPLAY_INTERVAL,
	OPT_DURATION,
	OPT_API,
	OPT_CHECK_LAUNCHES,
	OPT_MAX_PROCESSES,
	OPT_MAX_ALLOCATIONS,
	OPT_MAX_KERNELS,
	OPT_MAX_INFLIGHT,
	OPT_MAX_OVERHEAD,
	OPT_NO_RETURNS,
	OPT_VERDICT,
	OPT_LIBRARY,
	OPT_TOP,
	OPT_FULL_NAMES,
	OPT_JSON,
	OPT_THRESHOLD,
};

static const struct option long_options[] = {
	{"memleak", no_argument, NULL, OPT_MEMLEAK},
	{"cudatrace", no_argument, NULL, OPT_CUDATRACE},
	{"bandwidth-util", no_argument, NULL, OPT_BANDWIDTH},
	{"metrics-addr", required_argument, NULL, OPT_METRICS_ADDR},
	{"metrics-kernels", required_argument, NULL, OPT_METRICS_KERNELS},
	{"display-interval", required_argument, NULL, OPT_DISPLAY_INTERVAL},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"pid", required_argument, NULL, 'p'},
	{"api", required_argument, NULL, OPT_API},
	{"check-launches", no_argument, NULL, OPT_CHECK_LAUNCHES},
	{"max-processes", required_argument, NULL, OPT_MAX_PROCESSES},
	{"max-allocations", required_argument, NULL, OPT_MAX_ALLOCATIONS},
	{"max-kernels", required_argument, NULL, OPT_MAX_KERNELS},
	{"max-inflight", required_argument, NULL, OPT_MAX_INFLIGHT},
	{"max-overhead", required_argument, NULL, OPT_MAX_OVERHEAD},
	{"no-return-probes", no_argument, NULL, OPT_NO_RETURNS},
	{"verdict", no_argument, NULL, OPT_VERDICT},
	{"libcudart-path", required_argument, NULL, OPT_LIBRARY},
	{"libcuda-path", required_argument, NULL, OPT_LIBRARY},
	{"top", required_argument, NULL, OPT_TOP},
	{"full-names", no_argument, NULL, OPT_FULL_NAMES},
	{"json", no_argument, NULL, OPT_JSON},
	{"threshold", required_argument, NULL, OPT_THRESHOLD},
	STACK_MODE_OPTIONS,
	STACK_CALL_OPTIONS,
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

void options__print_help(FILE *out)
{
	fputs(help, out);
}

static int take_address(struct options *options, const char *text, struct error *err)
{
	char host[ADDRESS_HOST_MAX], port[ADDRESS_PORT_MAX];
	int ret;

	options->metrics_address_given = true;
	options->metrics_address = NULL;
	if (!strcmp(text, "none"))
		return 0;
	options->metrics_address = text;
	ret = address__split(text, host, port, err);
	return ret ? error__prefix(err, ret, "--metrics-addr") : 0;
}

static int take_value(struct options *options, int id, const char *text, struct error *err)
{
	unsigned long number;
	int ret;

	switch (id) {
	case OPT_METRICS_ADDR:
		return take_address(options, text, err);
	case OPT_METRICS_KERNELS:
		ret = arguments__number("--metrics-kernels", text, 0, 1000000, &number, err);
		options->metrics_kernels = (unsigned int)number;
		return ret;
	case OPT_TOP:
		ret = arguments__number("--top", text, 0, 1000000, &number, err);
		options->top = (unsigned int)number;
		return ret;
	case OPT_DISPLAY_INTERVAL:
		return arguments__seconds("--display-interval", text, 0.01, &options->display_interval, err);
	case OPT_DURATION:
		return arguments__seconds("--duration", text, 0.001, &options->duration, err);
	case OPT_MAX_PROCESSES:
		return arguments__capacity("--max-processes", text, MAX_PROCESSES, &options->limits.max_processes, err);
	case OPT_MAX_ALLOCATIONS:
		return arguments__capacity("--max-allocations", text, MAX_ENTRIES, &options->limits.max_allocations, err);
	case OPT_MAX_KERNELS:
		return arguments__capacity("--max-kernels", text, MAX_ENTRIES, &options->limits.max_kernels, err);
	case OPT_MAX_INFLIGHT:
		return arguments__capacity("--max-inflight", text, MAX_ENTRIES, &options->limits.max_inflight, err);
	case OPT_API:
		return arguments__api(text, &options->api, err);
	case OPT_MAX_OVERHEAD:
		return arguments__overhead(text, &options->max_overhead, err);
	case OPT_THRESHOLD:
		return arguments__append(&options->thresholds, &options->threshold_count, text, err);
	case OPT_LIBRARY:
		return targets__add_library(&options->targets, text, err);
	case 'p':
		return targets__add_pid(&options->targets, text, err);
	}
	return stack_choice__take(&options->stacks, id, text, err);
}

static bool take_flag(struct options *options, int id)
{
	switch (id) {
	case OPT_MEMLEAK:
		options->sections |= SECTION_MEMORY;
		return true;
	case OPT_CUDATRACE:
		options->sections |= SECTION_LAUNCH;
		return true;
	case OPT_BANDWIDTH:
		options->sections |= SECTION_COPY;
		return true;
	case OPT_CHECK_LAUNCHES:
		options->check_launches = true;
		return true;
	case OPT_NO_RETURNS:
		options->no_returns = true;
		return true;
	case OPT_VERDICT:
		options->verdict = true;
		return true;
	case OPT_FULL_NAMES:
		options->full_names = true;
		return true;
	case OPT_JSON:
		options->json = true;
		return true;
	}
	return false;
}

/* An account takes all calls, and their returns. */
static int check_verdict(const struct options *options, struct error *err)
{
	if (options->verdict && options->chosen)
		return error__set(err, -EINVAL, "--verdict does not go together with --memleak, --cudatrace and --bandwidth-util: "
						"it needs all calls");
	if (options->verdict && options->no_returns)
		return error__set(err, -EINVAL, "--verdict and --no-return-probes do not go together: it needs to know how long "
						"calls take");
	return 0;
}

static int check_returns(const struct options *options, struct error *err)
{
	if (options->no_returns && options->check_launches)
		return error__set(err, -EINVAL, "--no-return-probes and --check-launches do not go together: whether a launch fails "
						"is known at its return");
	return 0;
}

int options__parse(struct options *options, int argc, char **argv, struct error *err)
{
	int id, ret;

	*options = (struct options){
		.metrics_address = DEFAULT_ADDRESS,
		.metrics_kernels = 100,
		.display_interval = 5,
		.limits = COUNTING_LIMITS,
		.top = 20,
		.log_level = LOG_WARN,
	};
	stack_choice__init(&options->stacks, STACK_OFF);
	opterr = 0;
	/* "+": what follows COMMAND is COMMAND's; ":": a missing value is told apart. */
	while ((id = getopt_long(argc, argv, "+:p:vqhV", long_options, NULL)) != -1) {
		if (id == 'h')
			return OPTIONS_HELP;
		if (id == 'V')
			return OPTIONS_VERSION;
		if (id == ':' || id == '?')
			return arguments__bad_option(id, argc, argv, long_options, "gpuprobe", err);
		if (arguments__take_log_level(id, &options->log_level))
			continue;
		if (take_flag(options, id))
			continue;
		ret = take_value(options, id, optarg, err);
		if (ret)
			return ret;
	}
	options->chosen = options->sections;
	if (!options->sections)
		options->sections = SECTION_ALL;
	ret = check_returns(options, err);
	if (!ret)
		ret = check_verdict(options, err);
	if (!ret)
		ret = stack_choice__check(&options->stacks, err);
	if (ret)
		return ret;
	return targets__take_command(&options->targets, argc, argv, "gpuprobe", err);
}

void options__clear(struct options *options)
{
	targets__clear(&options->targets);
	free(options->thresholds);
}
