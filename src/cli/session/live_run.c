// SPDX-License-Identifier: BSD-2-Clause
// Counting with its reports and samples, from set-up to the last report, see live_run.h.
#include "cli/session/live_run.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Scripts need no such line, and COMMAND has the terminal. */
static bool announces(const struct live_run_options *options, const struct log *log)
{
	return options->announces && !options->live.targets->command && log->level >= LOG_WARN &&
	       isatty(STDERR_FILENO);
}

int live_run__new(const struct live_run_options *options, const struct log *log,
		  struct live_run **out, struct error *err)
{
	struct live_run *run = calloc(1, sizeof(*run));
	int ret;

	if (!run)
		return error__set(err, -ENOMEM, "out of memory");
	run->samples_options = options->samples;
	run->announces = announces(options, log);
	run->start = (struct start_line){
		.pids = options->live.targets->pids,
		.pid_count = options->live.targets->pid_count,
		.interval = options->reports.interval,
		.duration = options->live.duration,
	};
	ret = live_model__new(&options->live, log, &run->live, err);
	if (!ret && options->reports.print)
		ret = reports__new(run->live, &options->reports, log, &run->reports, err);
	if (ret) {
		live_run__free(run);
		return ret;
	}
	*out = run;
	return 0;
}

static void print_busy(void)
{
	double load;

	if (getloadavg(&load, 1) == 1)
		start_line__print_busy(stderr, load, sysconf(_SC_NPROCESSORS_ONLN));
}

int live_run__attach(struct live_run *run, struct error *err)
{
	int ret;

	if (run->announces)
		print_busy();
	ret = live_model__prepare(run->live, err);
	if (!ret && run->reports)
		ret = reports__start(run->reports, err);
	if (!ret && run->samples_options.take)
		ret = samples__new(run->live, &run->samples_options, &run->samples, err);
	if (!ret)
		ret = live_model__attach(run->live, err);
	if (!ret && run->announces)
		start_line__print(stderr, &run->start);
	return ret;
}

int live_run__until_end(struct live_run *run, struct error *err)
{
	int ret = session__run(live_model__session(run->live), err);

	return ret || !run->reports ? ret : reports__finish(run->reports, err);
}

int live_run__status(const struct live_run *run)
{
	return session__status(live_model__session(run->live));
}

void live_run__free(struct live_run *run)
{
	if (!run)
		return;
	samples__free(run->samples);
	reports__free(run->reports);
	live_model__free(run->live);
	free(run);
}
