// SPDX-License-Identifier: BSD-2-Clause
// Parses the command line of `gpuprobe diff`, see diff_options.h.
#include "cli/options/diff_options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/shared_rows.h"
#include "compare/compare.h"

#define PROGRAM "gpuprobe diff"

#define FIELD(member) .offset = offsetof(struct diff_options, member)

/* "5" or "5%" */
static bool take_percent(const char *text, double *share)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double percent = strtod(text, &end);

	if (!digits || end != text + digits || !isfinite(percent) || percent > 1000)
		return false;
	*share = percent / 100;
	return !strcmp(end, "") || !strcmp(end, "%");
}

static int take_fail_on(const struct option_row *row, void *field, const char *text,
			struct error *err)
{
	struct diff_options *options = field;

	(void)row;
	options->fails_on_worse = true;
	if (!strcmp(text, "worse") ||
	    (!strncmp(text, "worse=", 6) && take_percent(text + 6, &options->share)))
		return 0;
	return error__set(err, -EINVAL,
			  "--fail-on '%.60s': write worse, or worse=10%% if steps may take 10 %% "
			  "longer",
			  text);
}

static const struct option_row rows[] = {
	{.name = "fail-on",
	 .value = "worse[=PERCENT]",
	 .help = "exit with 4 if B is worse: more calls or memory,\n"
		 "with a PERCENT also if its steps take that longer",
	 .take = take_fail_on},
	{.name = "budget",
	 .value = "FILE",
	 .help = "exit with 4 if B, or the only run, breaks a limit:\n"
		 "lines such as launches per step <= 400",
	 .take = option__file,
	 FIELD(budget)},
	{.name = "all",
	 .help = "print all differences and limits [about 40 lines]",
	 .take = option__flag,
	 FIELD(all)},
	{.rows = full_names_rows, FIELD(full_names)},
	{.rows = exact_rows, FIELD(form)},
	{.name = "json", .help = "one JSON object, on one line", .take = option__flag, FIELD(json)},
	{.help = ""},
	{.rows = log_rows, FIELD(log_level)},
	{0},
};

const struct option_table diff_options = {
	.program = PROGRAM,
	.head = "Usage: gpuprobe diff [OPTIONS] A B\n"
		"       gpuprobe diff [OPTIONS] --budget FILE A\n"
		"\n"
		"Compares two runs: what each step of B has more or less of than one of A, or\n"
		"without steps the whole run. A and B are recordings (gpuprobe record --level\n"
		"summary) or files of gpuprobe stat --json. Needs no privileges and no GPU.\n"
		"\n",
	.rows = rows,
	.tail = "\n"
		"Exit status: 0 for success, also if the runs differ; 1 if something failed, the\n"
		"runs cannot be compared, or --fail-on or a budget needs a figure that is\n"
		"unknown; 2 for a usage error; 4 if --fail-on or a budget says so.\n",
};

static int check(const struct diff_options *options, struct error *err)
{
	if (!options->path_count)
		return error__set(
			err, -EINVAL,
			"which runs? Give two recordings or files of gpuprobe stat --json");
	if (options->path_count == 2)
		return 0;
	if (!options->budget)
		return error__set(
			err, -EINVAL,
			"compare it with which run? Give a second file, or --budget FILE");
	if (options->fails_on_worse)
		return error__set(err, -EINVAL, "--fail-on compares two runs: give a second file");
	return 0;
}

/* Options may come before, between and behind the two files. */
int diff_options__parse(struct diff_options *options, int argc, char **argv, struct error *err)
{
	int ret;

	*options = (struct diff_options){.share = NEVER_WORSE, .log_level = LOG_WARN};
	ret = option_table__parse(&diff_options, options, argc, argv, err);
	while (!ret && optind < argc) {
		if (options->path_count == 2)
			return error__set(err, -EINVAL,
					  "unexpected '%.100s': two runs are compared, see " PROGRAM
					  " --help",
					  argv[optind]);
		options->paths[options->path_count++] = argv[optind++];
		ret = option_table__parse_on(&diff_options, options, argc, argv, err);
	}
	return ret ? ret : check(options, err);
}
