// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe nccl`, see nccl_options.h.
#include "cli/options/nccl_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/options/arguments.h"
#include "cli/options/shared_rows.h"
#include "cli/options/trace_options.h"
#include "serve/address.h"

#define PROGRAM "gpuprobe nccl"
#define LONGEST_HANG_S 86400ull

/* A number without a unit is in seconds. */
static int take_hang(const struct option_row *row, void *field, const char *text, struct error *err)
{
	uint64_t *ns = field;
	bool right = arguments__in_unit(text, "", (double)NS_PER_S, ns) ||
		     arguments__in_unit(text, "m", 60e9, ns) || !option__time(row, ns, text, err);

	if (!right || *ns < 100 * NS_PER_MS || *ns > LONGEST_HANG_S * NS_PER_S)
		return error__set(
			err, -EINVAL,
			"--hang '%.100s': give a time from 100ms to a day, such as 10s or 5m",
			text);
	return 0;
}

static int take_address(const struct option_row *row, void *field, const char *text,
			struct error *err)
{
	char host[ADDRESS_HOST_MAX], port[ADDRESS_PORT_MAX];
	const char **address = field;
	int ret;

	(void)row;
	*address = NULL;
	if (!strcmp(text, "none"))
		return 0;
	*address = text;
	ret = address__split(text, host, port, err);
	return ret ? error__prefix(err, ret, "--metrics-addr") : 0;
}

#define FIELD(member) .offset = offsetof(struct nccl_options, member)

static const struct option_row rows[] = {
	{"hang", 0, "TIME",
	 "report a collective as hanging after this time: 10s,\n"
	 "5m; the first one of a communicator may take 5\n"
	 "minutes, its creation 60 s [10s]",
	 take_hang, FIELD(hang_ns)},
	{"interval", 0, "S",
	 "seconds between reports; 0: only the last one, and\n"
	 "findings at once [5]",
	 option__seconds, FIELD(interval), .min = 0.1},
	{"ras", 0, NULL,
	 "ask NCCL itself, over its RAS service, about hangs on\n"
	 "all nodes and communicators that are not identified",
	 option__flag, FIELD(ras)},
	{"metrics-addr", 0, "A:P", "OpenMetrics endpoint, such as 127.0.0.1:9101 [none]",
	 take_address, FIELD(metrics_address)},
	{"json", 0, NULL, "one JSON object per report instead of text", option__flag, FIELD(json)},
	{"join", 0, NULL,
	 "read FILEs of --json from several nodes, and say which\n"
	 "rank of all of them is missing; watches nothing",
	 option__flag, FIELD(join)},
	{"output", 'O', "FILE", OUTPUT_HELP, option__file, FIELD(file)},
	{.help = "What to watch:"},
	{.rows = process_rows, FIELD(targets)},
	{"duration", 0, "S", DURATION_HELP, option__seconds, FIELD(duration), .min = 0.001},
	{.rows = library_rows, FIELD(targets)},
	{.help = CAPACITIES},
	{"buffer", 0, "SIZE", "of the kernel's ring of calls [16M]", trace_options__take_buffer,
	 FIELD(ring_bytes), .min = BUFFER_MIN, .max = BUFFER_MAX},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table nccl_option_table = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe nccl [OPTIONS] [-- COMMAND [ARG...]]\n"
		"       gpuprobe nccl --join [OPTIONS] FILE...\n"
		"\n"
		"Shows the communicators of NCCL: their ranks, what they transfer, and which rank\n"
		"is missing, late or calls something else, with what that rank is doing instead.\n"
		"It watches the whole machine, the processes of -p, or COMMAND and its\n"
		"descendants. Findings are printed as soon as they are found.\n"
		"\n",
	.rows = rows,
	.tail = "\n"
		"Exit status: COMMAND's, otherwise 0 for success, 1 if something failed, 2 for a\n"
		"usage error.\n",
};

/* Takes the files of --join. Options may come between them. */
static int take_files(struct nccl_options *options, int argc, char **argv, struct error *err)
{
	const struct targets *targets = &options->targets;
	int ret = 0;

	while (!ret && optind < argc) {
		if (ARRAY_APPEND(options->paths, options->path_count, argv[optind]))
			return error__set(err, -ENOMEM, "out of memory");
		optind++;
		ret = option_table__parse_on(&nccl_option_table, options, argc, argv, err);
	}
	if (ret)
		return ret;
	if (!options->path_count)
		return error__set(err, -EINVAL,
				  "--join: which files? Give what gpuprobe nccl --json wrote on "
				  "each node");
	if (targets->pid_count || targets->library_count ||
	    process_filter__is_set(&targets->filter) || options->duration > 0 ||
	    options->metrics_address || options->ras)
		return error__set(err, -EINVAL,
				  "--join reads files and watches nothing: of the other options it "
				  "takes --json, --hang and -O");
	return 0;
}

int nccl_options__parse(struct nccl_options *options, int argc, char **argv, struct error *err)
{
	int ret;

	*options = (struct nccl_options){
		.interval = 5,
		.hang_ns = 10 * NS_PER_S,
		.ring_bytes = BUFFER_DEFAULT,
		.log_level = LOG_WARN,
	};
	ret = option_table__parse(&nccl_option_table, options, argc, argv, err);
	if (ret || options->join)
		return ret ? ret : take_files(options, argc, argv, err);
	return targets__take_command(&options->targets, argc, argv, PROGRAM, err);
}

void nccl_options__clear(struct nccl_options *options)
{
	targets__clear(&options->targets);
	free(options->paths);
}
