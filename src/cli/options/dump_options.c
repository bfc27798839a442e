// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe dump`, see dump_options.h.
#include "cli/options/dump_options.h"

#include <errno.h>
#include <getopt.h>

#include "base/clock.h"

#define PROGRAM "gpuprobe dump"
#define LONGEST_S 86400ull

static const char help[] =
	"Usage: gpuprobe dump [OPTIONS]\n"
	"\n"
	"Shows what each thread is in, now: the CUDA call that it is in, what it waits\n"
	"for, and its stack. Without -p it shows every process that uses CUDA. The\n"
	"processes run on: gpuprobe stops nothing and places no probe in them.\n"
	"\n"
	"  -p, --pid PID           this process, and those of its children that use CUDA\n"
	"                          (repeatable; without: every process that uses CUDA)\n"
	"  --again SECONDS         a second dump after this time (5, 5s, 500ms), which\n"
	"                          tells what threads have not moved\n"
	"\n"
	"What to show:\n"
	"  --native                all frames of each stack, one a line\n"
	"  --all                   every thread by itself, instead of a sum of those that\n"
	"                          are neither in CUDA nor run Python\n"
	"  --json                  one JSON object, on one line\n"
	"\n"
	"  -v, --verbose           say more on stderr (twice: even more)\n"
	"  -q, --quiet             no warnings\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n"
	"\n"
	"Exit status: 0, 1 if something failed, 2 for a mistake on the command line.\n";

enum option_id {
	OPT_AGAIN = 256,
	OPT_NATIVE,
	OPT_ALL,
	OPT_JSON,
};

static const struct option long_options[] = {
	{"pid", required_argument, NULL, 'p'},
	{"again", required_argument, NULL, OPT_AGAIN},
	{"native", no_argument, NULL, OPT_NATIVE},
	{"all", no_argument, NULL, OPT_ALL},
	{"json", no_argument, NULL, OPT_JSON},
	{"verbose", no_argument, NULL, 'v'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

void dump_options__print_help(FILE *out)
{
	fputs(help, out);
}

/* A number alone is seconds. */
static int parse_again(const char *text, uint64_t *ns, struct error *err)
{
	bool right = arguments__in_unit(text, "", (double)NS_PER_S, ns) || !arguments__time("--again", text, ns, err);

	if (!right || *ns < NS_PER_MS || *ns > LONGEST_S * NS_PER_S)
		return error__set(err, -EINVAL,
				  "--again '%.100s': give a time from 1ms to %llus, such as 5, 5s or 500ms", text,
				  LONGEST_S);
	return 0;
}

static int take_option(struct dump_options *options, int id, const char *text, struct error *err)
{
	switch (id) {
	case 'p':
		return targets__add_pid(&options->targets, text, err);
	case OPT_AGAIN:
		return parse_again(text, &options->again_ns, err);
	case OPT_NATIVE:
		options->native = true;
		return 0;
	case OPT_ALL:
		options->all = true;
		return 0;
	case OPT_JSON:
		options->json = true;
		return 0;
	}
	arguments__take_log_level(id, &options->log_level);
	return 0;
}

int dump_options__parse(struct dump_options *options, int argc, char **argv, struct error *err)
{
	int id, ret;

	*options = (struct dump_options){.log_level = LOG_WARN};
	opterr = 0;
	optind = 0; /* another argv than the last: begin anew */
	/* "+": options end at the first other word; ":": a missing value is told apart. */
	while ((id = getopt_long(argc, argv, "+:p:vqhV", long_options, NULL)) != -1) {
		if (id == 'h')
			return DUMP_OPTIONS_HELP;
		if (id == 'V')
			return DUMP_OPTIONS_VERSION;
		if (id == ':' || id == '?')
			return arguments__bad_option(id, argc, argv, long_options, PROGRAM, err);
		ret = take_option(options, id, optarg, err);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return error__set(err, -EINVAL, "unexpected '%.100s': see " PROGRAM " --help", argv[optind]);
	return DUMP_OPTIONS_RUN;
}

void dump_options__clear(struct dump_options *options)
{
	targets__clear(&options->targets);
}
