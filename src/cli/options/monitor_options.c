// SPDX-License-Identifier: BSD-2-Clause
// Parses the monitor's command line, see monitor_options.h.
#include "cli/options/monitor_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/filter_options.h"
#include "cli/options/shared_rows.h"
#include "finding/finding.h"
#include "model/model.h"
#include "serve/address.h"
#include "target/pod_names.h"

#define DEFAULT_ADDRESS "0.0.0.0:9000"

static int take_address(const struct option_row *row, void *field, const char *text,
			struct error *err)
{
	struct monitor_options *options = field;
	char host[ADDRESS_HOST_MAX], port[ADDRESS_PORT_MAX];
	int ret;

	(void)row;
	options->metrics_address_given = true;
	options->metrics_address = NULL;
	if (!strcmp(text, "none"))
		return 0;
	options->metrics_address = text;
	ret = address__split(text, host, port, err);
	return ret ? error__prefix(err, ret, "--metrics-addr") : 0;
}

static int take_top(const struct option_row *row, void *field, const char *text, struct error *err)
{
	struct monitor_options *options = field;

	options->top_given = true;
	return option__unsigned(row, &options->top, text, err);
}

static const char *const metrics_by_words[] = {
	[METRICS_BY_PROCESS] = "process",
	[METRICS_BY_CONTAINER] = "container",
	[METRICS_BY_USER] = "user",
	[METRICS_BY_JOB] = "job",
};

static const char *const web_words[] = {
	[HTTP_LOCAL] = "local",
	[HTTP_ALL] = "all",
	[HTTP_NOBODY] = "off",
};

static int take_web(const struct option_row *row, void *field, const char *text, struct error *err)
{
	struct monitor_options *options = field;

	options->web_given = true;
	return option__word(row, &options->web, text, err);
}

static int take_pod_logs(const struct option_row *row, void *field, const char *text,
			 struct error *err)
{
	struct process_filter *filter = field;

	if (text[0] != '/')
		return error__set(err, -EINVAL, "--pod-logs '%.100s': give an absolute path", text);
	return option__once(row, &filter->pod_logs, text, err);
}

#define FIELD(member) .offset = offsetof(struct monitor_options, member)

static const struct option_row rows[] = {
	{.help = "What to watch (none of the three: all, reported by process):"},
	{"memleak", 0, NULL, "memory: live allocations, frees, failures, leaks", option__bits,
	 FIELD(sections), .min = SECTION_MEMORY},
	{"cudatrace", 0, NULL, "kernel launches by process and kernel", option__bits,
	 FIELD(sections), .min = SECTION_LAUNCH},
	{"bandwidth-util", 0, NULL, "copies: bytes, time and bandwidth by kind", option__bits,
	 FIELD(sections), .min = SECTION_COPY},
	{.rows = reading_rows, FIELD(input)},
	{"pid", 'p', "PID",
	 "only this process and its children (repeatable);\n"
	 "gpuprobe ends when they have all ended",
	 shared_rows__take_pid, FIELD(targets)},
	{.rows = filter_rows, FIELD(targets)},
	{"api", 0, "auto|driver|runtime|both", API_HELP, option__word, FIELD(api),
	 WORDS(api_words)},
	{"check-launches", 0, NULL, "check the result of each launch, not of one in 256",
	 option__flag, FIELD(check_launches)},
	{.rows = overhead_rows, FIELD(max_overhead)},
	{"verdict", 0, NULL,
	 "profile calls as diagnose does, to prove who waits for\n"
	 "whom: the GPU or the program",
	 option__flag, FIELD(verdict)},
	{"nccl", 0, NULL,
	 "also trace calls of NCCL, where it is in use, to find\n"
	 "which rank hangs, differs or is late",
	 option__flag, FIELD(nccl)},
	{.rows = tensor_rows, FIELD(tensors)},
	{"kernel-log", 0, NULL,
	 "read GPU errors (Xids) from the kernel's log, which\n"
	 "names their process, not from the driver's tracepoint",
	 option__flag, FIELD(kernel_log)},
	{"no-return-probes", 0, NULL, "probe only the start of calls: no results, no times",
	 option__flag, FIELD(no_returns)},
	{.rows = library_rows, FIELD(targets)},
	{.help = "What to show:"},
	{"oom-dir", 0, "DIR",
	 "also write each out-of-memory report to a file in DIR,\n"
	 "at most 20 files",
	 option__file, FIELD(oom_directory)},
	{"interval", 0, "S",
	 "seconds between reports; 0 = only the final one [5];\n"
	 "--display-interval is the same",
	 option__seconds, FIELD(display_interval), .min = 0.01},
	{"duration", 0, "S", DURATION_HELP, option__seconds, FIELD(duration), .min = 0.001},
	/* the former name of --interval */
	{"display-interval", 0, "S", NULL, option__seconds, FIELD(display_interval), .min = 0.01},
	{"top", 'T', "N",
	 "processes shown in detail, and entries of each list;\n"
	 "0 = all [what fits a screen; 20 with one of the first\n"
	 "three options]",
	 take_top, .offset = 0, .max = 1000000},
	{.rows = full_names_rows, FIELD(full_names)},
	{.rows = exact_rows, FIELD(form)},
	{"json", 0, NULL, "one JSON object per report instead of text", option__flag, FIELD(json)},
	{"service", 0, NULL,
	 "run as a service: no reports; log findings and losses\n"
	 "when they begin, get worse or end",
	 option__flag, FIELD(service)},
	{"threshold", 0, "ID=VALUE", THRESHOLD_HELP, option__list, FIELD(thresholds)},
	{"metrics-addr", 0, "A:P", "OpenMetrics endpoint, or none [" DEFAULT_ADDRESS "]",
	 take_address, .offset = 0},
	{"metrics-kernels", 0, "N", "kernels per process that get their own series [100]",
	 option__unsigned, FIELD(metrics_kernels), .max = 1000000},
	{"metrics-by", 0, "process|container|user|job", "whose series the metrics have [process]",
	 option__word, FIELD(metrics_by), WORDS(metrics_by_words)},
	{"web", 0, "local|all|off",
	 "who gets the page with plots at / of the metrics port:\n"
	 "browsers on this machine, all, nobody [local]",
	 take_web, .offset = 0, WORDS(web_words)},
	{"otlp-endpoint", 0, "URL",
	 "also send metrics and findings by OTLP, such as to\n"
	 "http://localhost:4318; none = off [the variable\n"
	 "OTEL_EXPORTER_OTLP_ENDPOINT]",
	 option__text, FIELD(otlp_endpoint)},
	{"pod-logs", 0, "DIR", "the kubelet's logs, for names of pods [" POD_LOGS "]",
	 take_pod_logs, FIELD(targets.filter)},
	{.help = "Call stacks (off by default):"},
	{.rows = stack_rows, FIELD(stacks)},
	{.rows = stack_call_rows, FIELD(stacks)},
	{.rows = all_frames_rows, FIELD(all_frames)},
	{.rows = capacity_rows, FIELD(limits)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table monitor_options = {
	.program = "gpuprobe",
	.head = "Usage: gpuprobe [OPTIONS] [-- COMMAND [ARG...]]\n"
		"\n"
		"Watches the CUDA calls of running programs from outside, with eBPF uprobes: on\n"
		"the whole machine, in the processes of -p, or in COMMAND and its descendants.\n",
	.rows = rows,
};

/* A profile needs all calls and their returns. */
static int check_verdict(const struct monitor_options *options, struct error *err)
{
	if (options->verdict && options->chosen)
		return error__set(err, -EINVAL,
				  "--verdict does not go together with --memleak, --cudatrace and "
				  "--bandwidth-util: a verdict needs all calls");
	if (options->verdict && options->no_returns)
		return error__set(err, -EINVAL,
				  "--verdict and --no-return-probes do not go together: a verdict "
				  "needs to know how long calls take");
	return 0;
}

/* NCCL is noticed by its handles, and what hangs by returns. */
static int check_nccl(struct monitor_options *options, struct error *err)
{
	if (options->nccl && options->chosen)
		return error__set(err, -EINVAL,
				  "--nccl does not go together with --memleak, --cudatrace and "
				  "--bandwidth-util: their report has no communicators");
	if (options->nccl && options->no_returns)
		return error__set(err, -EINVAL,
				  "--nccl and --no-return-probes do not go together: ranks are "
				  "judged by the returns of their calls");
	options->input.needs |= options->nccl ? NEEDS_NCCL : 0;
	return 0;
}

/* The report by sections has no tensors, and without returns segments are unknown. */
static int check_tensors(struct monitor_options *options, struct error *err)
{
	if (options->tensors && options->chosen)
		return error__set(err, -EINVAL,
				  "--tensors does not go together with --memleak, --cudatrace and "
				  "--bandwidth-util: their report has no tensors");
	if (options->tensors && options->no_returns)
		return error__set(err, -EINVAL,
				  "--tensors and --no-return-probes do not go together: tensors "
				  "fill segments, which are unknown without results of calls");
	if (options->tensors)
		options->limits.max_tensors = options->limits.max_allocations;
	options->input.needs = options->tensors ? NEEDS_TENSORS : 0;
	return 0;
}

static int check_returns(const struct monitor_options *options, struct error *err)
{
	if (options->no_returns && options->check_launches)
		return error__set(err, -EINVAL,
				  "--no-return-probes and --check-launches do not go together: the "
				  "result of a launch is known when it returns");
	return 0;
}

/* A recording is shown once and ends: it has no metrics. */
static int check_input(struct monitor_options *options, struct error *err)
{
	const char *given = NULL;

	if (options->service)
		given = "--service";
	else if (options->kernel_log)
		given = "--kernel-log";
	else if (options->metrics_address_given && options->metrics_address)
		given = "--metrics-addr";
	else if (options->web_given && options->web != HTTP_NOBODY)
		given = "--web";
	else if (options->otlp_endpoint && strcmp(options->otlp_endpoint, "none") != 0)
		given = "--otlp-endpoint";

	if (!options->input.path)
		return 0;
	if (given)
		return error__set(err, -EINVAL, "%s does not go with -i, which shows a recording",
				  given);
	options->metrics_address = NULL;
	return 0;
}

static int check_web(const struct monitor_options *options, struct error *err)
{
	if (options->web_given && options->web != HTTP_NOBODY && !options->metrics_address)
		return error__set(err, -EINVAL,
				  "--web and --metrics-addr none do not go together: the page is "
				  "on the port of the metrics");
	return 0;
}

static int check_service(const struct monitor_options *options, struct error *err)
{
	if (options->service && options->json)
		return error__set(err, -EINVAL,
				  "--service and --json do not go together: a service prints no "
				  "reports");
	return 0;
}

int monitor_options__parse(struct monitor_options *options, int argc, char **argv,
			   struct error *err)
{
	int ret;

	*options = (struct monitor_options){
		.metrics_address = DEFAULT_ADDRESS,
		.metrics_kernels = 100,
		.display_interval = -1,
		.limits = LIVE_MODEL_LIMITS,
		.top = 20,
		.log_level = LOG_WARN,
	};
	stack_choice__init(&options->stacks, STACK_OFF);
	ret = option_table__parse(&monitor_options, options, argc, argv, err);
	if (ret)
		return ret;
	options->chosen = options->sections;
	if (!options->sections)
		options->sections = SECTION_ALL;
	/* A recording gives its last report alone, unless an interval is given. */
	if (options->display_interval < 0)
		options->display_interval = options->input.path ? 0 : 5;
	ret = check_returns(options, err);
	if (!ret)
		ret = check_input(options, err);
	if (!ret)
		ret = check_verdict(options, err);
	if (!ret)
		ret = check_service(options, err);
	if (!ret)
		ret = check_web(options, err);
	if (!ret)
		ret = check_tensors(options, err);
	if (!ret)
		ret = check_nccl(options, err);
	if (!ret)
		ret = stack_choice__check(&options->stacks, err);
	if (ret)
		return ret;
	ret = targets__take_command(&options->targets, argc, argv, "gpuprobe", err);
	return ret ? ret :
		     recording_choice__check_targets(&options->input, &options->targets,
						     options->duration, err);
}

void monitor_options__clear(struct monitor_options *options)
{
	targets__clear(&options->targets);
	free(options->thresholds.texts);
}
