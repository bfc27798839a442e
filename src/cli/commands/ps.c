// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe ps`: who uses the GPUs; see subcommand.h.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/subcommand.h"
#include "cli/files/terminal.h"
#include "cli/options/ps_options.h"
#include "cli/session/left_out.h"
#include "cli/session/privileges.h"
#include "cli/session/replay.h"
#include "cli/session/watch.h"
#include "output/ps/ps.h"
#include "privilege/capabilities.h"
#include "ps/list.h"
#include "ps/recorded.h"

#define LINKS LINKS_MULTI /* ps has no links; this kind needs the fewest privileges */

struct ps_command {
	const struct ps_options *options;
	const struct log *log;
	struct process_filter filter; /* the targets', opened */
	struct memory_reader *memory;
	struct attribution *attribution;
	struct dumper *dumper;
	bool unprivileged;
	int columns;
	struct ps *ps;
};

/* Unlike other commands, ps works without privileges, and shows what it may see. */
static int give_up_privileges(struct ps_command *run, struct error *err)
{
	struct error lacking;
	int ret = capabilities__keep_needed(false, err);

	run->unprivileged = capabilities__require(capabilities__effective(), &lacking) != 0;
	return ret;
}

/* Without a dumper, what the threads do stays unknown. */
static void open_dumper(struct ps_command *run)
{
	struct error why;

	if (run->unprivileged || !dumper__new(run->memory, run->log, &run->dumper, &why))
		return;
	log__warn(run->log, "cannot look at threads: %s", why.text);
}

static int set_up(struct ps_command *run, struct error *err)
{
	const struct targets *targets = &run->options->targets;
	const struct pod_logs logs = {0};
	int ret = watch__check_pids(targets->pids, targets->pid_count, err);

	if (!ret)
		ret = watch__refuse_kernel(targets->pids, targets->pid_count, err);
	if (!ret)
		ret = give_up_privileges(run, err);
	if (ret)
		return ret;
	run->columns = (int)terminal__width(STDOUT_FILENO);
	run->memory = memory_reader__new(run->log);
	run->attribution = run->memory ? attribution__new(run->memory, &logs) : NULL;
	if (!run->attribution)
		return error__set(err, -ENOMEM, "out of memory");
	open_dumper(run);
	return privileges__confine(LINKS, false, err);
}

static void report_filtered(const struct ps_command *run)
{
	const struct filtered_processes filtered = {
		.taken = run->ps->count,
		.left_out = run->ps->filtered,
	};

	left_out__report(&run->filter, &filtered, run->log);
}

static int list(struct ps_command *run, struct error *err)
{
	const struct ps_request request = {
		.pids = run->options->targets.pids,
		.pid_count = run->options->targets.pid_count,
		.filter = &run->filter,
		.memory = run->memory,
		.attribution = run->attribution,
		.dumper = run->dumper,
		.unprivileged = run->unprivileged,
	};
	int ret = ps_list__take(&request, &run->ps, err);

	if (!ret && run->options->tree && ps__sort_as_tree(run->ps))
		return error__set(err, -ENOMEM, "out of memory");
	return ret;
}

static int print(const struct ps_command *run, struct error *err)
{
	int failure;

	if (run->options->json)
		ps_json__print(stdout, run->ps);
	else
		ps_text__print(stdout, run->ps, run->options->form, run->columns);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	failure = errno ? errno : EIO;
	return error__set(err, -failure, "cannot write standard output: %s", strerror(failure));
}

/* The list of the recording's last reading, or of --to. */
static int run_recorded(const struct ps_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct ps_command run = {
		.options = options, .log = &log, .columns = (int)terminal__width(STDOUT_FILENO)};
	struct replay *replay = NULL;
	int ret = replay__new(&options->input, &log, &replay, err);

	if (!ret)
		ret = privileges__give_up_all(err);
	while (!ret && !replay__is_last(replay))
		ret = replay__next(replay, err);
	run.ps = ret ? NULL : ps_recorded__new(replay__reading(replay)->model);
	if (!ret && (!run.ps || (options->tree && ps__sort_as_tree(run.ps))))
		ret = error__set(err, -ENOMEM, "out of memory");
	if (!ret)
		replay__warn(replay);
	if (!ret)
		ret = print(&run, err);
	if (!ret)
		*status = 0;
	ps_recorded__free(run.ps);
	replay__free(replay);
	return ret;
}

static int run_ps(const struct ps_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct ps_command run = {
		.options = options, .log = &log, .filter = options->targets.filter};
	int ret = process_filter__open(&run.filter, err);

	if (!ret)
		ret = set_up(&run, err);
	if (!ret)
		ret = list(&run, err);
	if (!ret)
		report_filtered(&run);
	if (!ret)
		ret = print(&run, err);
	if (!ret)
		*status = 0;
	ps__free(run.ps);
	dumper__free(run.dumper);
	attribution__free(run.attribution);
	memory_reader__free(run.memory);
	return ret;
}

int ps_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct ps_options options;
	int ret = ps_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &ps_options, status))
		ret = options.input.path ? run_recorded(&options, status, err) :
					   run_ps(&options, status, err);
	ps_options__clear(&options);
	return ret;
}
