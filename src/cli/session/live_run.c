// SPDX-License-Identifier: BSD-2-Clause
// Counting with its reports and samples, from set-up to the last report, see live_run.h.
#include "cli/session/live_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "cli/files/output_file.h"
#include "cli/session/privileges.h"
#include "cli/session/signals.h"

/* Scripts need no such line, and COMMAND has the terminal. */
static bool announces(const struct live_run_options *options, const struct log *log)
{
	return options->announces && !options->replay && !options->live.targets->command &&
	       log->level >= LOG_WARN && isatty(STDERR_FILENO);
}

/* --- a replay --- */

/* Opens the file of the reports. */
static int open_replay(struct live_run *run, const struct live_run_options *options,
		       struct error *err)
{
	signals__survive_write(SIGPIPE);
	run->replay = options->replay;
	run->replay_reports = options->reports;
	run->replay_fd = STDOUT_FILENO;
	if (options->reports.file)
		run->replay_fd = output_file__open(options->reports.file, err);
	return run->replay_fd < 0 ? run->replay_fd : 0;
}

/* Returns 0, also if the reader has gone, or a negative errno with a message. */
static int write_report(const struct live_run *run, const char *text, size_t length,
			struct error *err)
{
	const char *file = run->replay_reports.file;

	while (length) {
		ssize_t written = write(run->replay_fd, text, length);

		if (written < 0 && errno == EPIPE)
			return -EPIPE;
		if (written < 0 && errno != EINTR)
			return error__set(err, -errno, "cannot write to %s: %s",
					  file ? file : "standard output", strerror(errno));
		text += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
	return 0;
}

/* Returns 0, or a negative errno with a message; -EPIPE has none: the reader has gone. */
static int report_replayed(const struct live_run *run, struct error *err)
{
	const struct reports_options *options = &run->replay_reports;
	char *text = NULL;
	size_t length = 0;
	FILE *out;
	int ret;

	if (options->look)
		options->look(options->arg);
	if (!options->print)
		return 0;
	out = text_stream__open(&text, &length);
	ret = out ? options->print(out, options->arg) : -ENOMEM;
	if (out && fclose(out) && !ret)
		ret = -ENOMEM;
	ret = ret ? error__set(err, ret, "out of memory: a report is missing") :
		    write_report(run, text, length, err);
	free(text);
	return ret;
}

static int replay(const struct live_run *run, struct error *err)
{
	const struct reports_options *options = &run->replay_reports;
	uint64_t interval_ns = (uint64_t)(options->interval * (double)NS_PER_S),
		 due_ns = replay__reading(run->replay)->began_ns + interval_ns;
	unsigned long made = 0;
	int ret = 0;

	for (;;) {
		uint64_t now_ns = live_run__model(run)->now_ns;
		bool last = replay__is_last(run->replay) ||
			    (options->count && made + 1 == options->count && now_ns >= due_ns);

		if (last || (interval_ns && now_ns >= due_ns)) {
			ret = report_replayed(run, err);
			made++;
			if (interval_ns && now_ns >= due_ns)
				due_ns = now_ns - (now_ns - due_ns) % interval_ns + interval_ns;
		} else if (run->samples_options.period > 0 && run->samples_options.take) {
			run->samples_options.take(run->samples_options.arg);
		}
		if (!ret && !last)
			ret = replay__next(run->replay, err);
		if (ret || last)
			break;
	}
	replay__warn(run->replay);
	return ret == -EPIPE ? 0 : ret;
}

/* --- both --- */

const struct model *live_run__model(const struct live_run *run)
{
	return run->replay ? replay__reading(run->replay)->model : live_model__model(run->live);
}

struct live_model_options live_run__for_days(const struct targets *targets, double duration,
					     double max_overhead, bool overhead_by_default)
{
	return (struct live_model_options){
		.targets = targets,
		.duration = duration,
		.sections = SECTION_ALL,
		.api = API_AUTO,
		.needs = NEEDS_PROFILE,
		.watch_gpus = true,
		.limits = LIVE_MODEL_LIMITS,
		.max_overhead = max_overhead,
		.overhead_by_default = overhead_by_default,
		.sample_launches_alone = true,
	};
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
	if (!options->replay)
		run->only = process_filter__text(&options->live.targets->filter);
	run->start = (struct start_line){
		.pids = options->replay ? NULL : options->live.targets->pids,
		.pid_count = options->replay ? 0 : options->live.targets->pid_count,
		.only = run->only.text,
		.interval = options->reports.interval,
		.duration = options->live.duration,
	};
	if (options->replay)
		ret = open_replay(run, options, err);
	else
		ret = live_model__new(&options->live, log, &run->live, err);
	if (!ret && options->reports.print && run->live)
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

	if (run->replay)
		return privileges__give_up_all(err);
	if (run->announces)
		print_busy();
	ret = live_model__prepare(run->live, err);
	if (!ret && run->reports)
		live_model__expect_reports(run->live);
	if (!ret && run->samples_options.take)
		ret = samples__new(run->live, &run->samples_options, &run->samples, err);
	if (!ret)
		ret = live_model__attach(run->live, err);
	if (!ret && run->reports)
		ret = reports__start(run->reports, err);
	if (!ret && run->announces)
		start_line__print(stderr, &run->start);
	return ret;
}

int live_run__until_end(struct live_run *run, struct error *err)
{
	int ret;

	if (run->replay)
		return replay(run, err);
	ret = session__run(live_model__session(run->live), err);
	return ret || !run->reports ? ret : reports__finish(run->reports, err);
}

int live_run__status(const struct live_run *run)
{
	return run->replay ? 0 : session__status(live_model__session(run->live));
}

void live_run__free(struct live_run *run)
{
	if (!run)
		return;
	if (run->replay && run->replay_reports.file && run->replay_fd >= 0)
		close(run->replay_fd);
	samples__free(run->samples);
	reports__free(run->reports);
	live_model__free(run->live);
	free(run);
}
