// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe stat and gpuprobe diagnose: the account of a run and the findings in it, see account_options.h.
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/account_options.h"
#include "cli/counting.h"
#include "cli/reports.h"
#include "cli/subcommand.h"
#include "output/stat.h"

struct account_run {
	const struct account_command *options;
	const struct log *log;
	struct counting *counting;
	struct reports *reports;
	uint64_t began_ns; /* when the probes were in */
};

/* --- reports --- */

static void print(FILE *out, void *arg)
{
	const struct account_run *run = arg;
	const struct stat_report report = {
		.model = counting__model(run->counting),
		.began_ns = run->began_ns,
		.options = &run->options->output,
	};

	stat_json__print(out, &report);
}

/* --- setting up --- */

static int set_up(struct account_run *run, struct error *err)
{
	const struct account_command *options = run->options;
	const struct counting_options counting = {
		.targets = &options->targets,
		.duration = options->duration,
		.end_with_pids = true,
		.sections = SECTION_ALL,
		.api = options->api,
		.account = true,
		.limits = options->limits,
		.top = 1,
		.stacks = options->stacks,
		.stack_sites = (1u << SITE_KINDS) - 1,
	};
	const struct reports_options reports = {
		.interval = options->interval,
		.print = print,
		.arg = run,
	};
	int ret;

	ret = counting__new(&counting, run->log, &run->counting, err);
	if (!ret)
		ret = reports__new(run->counting, &reports, run->log, &run->reports, err);
	if (!ret)
		ret = counting__prepare(run->counting, err);
	if (!ret)
		ret = reports__start(run->reports, err);
	if (!ret)
		ret = counting__attach(run->counting, err);
	run->began_ns = clock__boot_ns();
	return ret;
}

static int run_command(const struct account_command *options, const struct log *log, int *status, struct error *err)
{
	struct account_run run = {.options = options, .log = log};
	int ret = set_up(&run, err);

	if (!ret)
		ret = session__run(counting__session(run.counting), err);
	if (!ret)
		ret = reports__finish(run.reports, err);
	if (!ret)
		*status = session__status(counting__session(run.counting));
	reports__free(run.reports);
	counting__free(run.counting);
	return ret;
}

static int start(bool diagnose, int argc, char **argv, int *status, struct error *err)
{
	struct account_command options;
	struct log log;
	int ret = account_options__parse(&options, diagnose, argc, argv, err);

	if (ret == ACCOUNT_RUN) {
		log.level = options.log_level;
		subcommand__set_bpf_log(log.level);
		ret = run_command(&options, &log, status, err);
	} else if (ret == ACCOUNT_HELP) {
		*status = 0;
		account_options__print_help(stdout, diagnose);
	} else {
		*status = EXIT_USAGE;
	}
	account_options__clear(&options);
	return ret;
}

int stat_command__run(int argc, char **argv, int *status, struct error *err)
{
	return start(false, argc, argv, status, err);
}

int diagnose_command__run(int argc, char **argv, int *status, struct error *err)
{
	return start(true, argc, argv, status, err);
}
