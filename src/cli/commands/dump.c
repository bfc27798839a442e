// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe dump`: what processes are doing now; see subcommand.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/files/terminal.h"
#include "cli/options/dump_options.h"
#include "cli/session/left_out.h"
#include "cli/session/privileges.h"
#include "cli/commands/subcommand.h"
#include "cli/session/watch.h"
#include "dump/dump.h"
#include "output/dump/dump.h"
#include "output/prose.h"
#include "target/proc.h"

#define LINKS LINKS_MULTI /* dump has no links; this kind needs the fewest privileges */

struct dump_command {
	const struct dump_options *options;
	const struct log *log;
	struct process_filter filter; /* the targets', opened */
	struct memory_reader *memory;
	struct dumper *dumper;
	struct pid_list pids;
	struct dump *first, *second; /* `second` only with --again */
};

static int choose_processes(struct dump_command *run, struct error *err)
{
	const struct targets *targets = &run->options->targets;
	int ret = dump_choice__make(targets->pids, targets->pid_count, &run->pids);
	struct filtered_processes filtered = {0};
	size_t found = run->pids.count;

	if (ret)
		return error__set(err, ret, "cannot list processes: %s", strerror(-ret));
	dump_choice__filter(&run->filter, &run->pids);
	filtered.taken = run->pids.count;
	filtered.left_out = found - run->pids.count;
	left_out__report(&run->filter, &filtered, run->log);
	return 0;
}

/* --- the dumps --- */

static int set_up(struct dump_command *run, struct error *err)
{
	const struct targets *targets = &run->options->targets;
	int ret = watch__check_pids(targets->pids, targets->pid_count, err);

	if (!ret)
		ret = watch__refuse_kernel(targets->pids, targets->pid_count, err);
	if (!ret)
		ret = privileges__give_up(LINKS, run->log, err);
	if (ret)
		return ret;
	run->memory = memory_reader__new(run->log);
	if (!run->memory)
		return error__set(err, -ENOMEM, "out of memory");
	ret = dumper__new(run->memory, run->log, &run->dumper, err);
	return ret ? ret : privileges__confine(LINKS, false, err);
}

static int take(struct dump_command *run, uint64_t since_ns, struct dump **dump, struct error *err)
{
	const struct dump_request request = {
		.pids = run->pids.pids, .count = run->pids.count, .since_ns = since_ns};
	int ret = dumper__take(run->dumper, &request, dump);

	return ret ? error__set(err, ret, "out of memory") : 0;
}

static void sleep_for(uint64_t ns)
{
	struct timespec left = {.tv_sec = (time_t)(ns / NS_PER_S),
				.tv_nsec = (long)(ns % NS_PER_S)};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static int take_dumps(struct dump_command *run, uint64_t began_ns, struct error *err)
{
	int ret = take(run, began_ns, &run->first, err);

	if (ret || !run->options->again_ns)
		return ret;
	sleep_for(run->options->again_ns);
	return take(run, clock__boot_ns(), &run->second, err);
}

static int print(const struct dump_command *run, struct error *err)
{
	const struct dump *dump = run->second ? run->second : run->first;
	unsigned int width = terminal__width(STDOUT_FILENO);
	const struct dump_view view = {
		.all_frames = run->options->all_frames,
		.all = run->options->all,
		.form = run->options->form,
		.on_terminal = width,
		.before = run->second ? run->first : NULL,
	};
	struct prose prose;
	int failure;

	if (run->options->json) {
		dump_json__print(stdout, dump, &view);
	} else {
		FILE *text = prose__begin(&prose, stdout, width);

		dump_text__print(text, dump, &view);
		prose__end(&prose, text);
	}
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	failure = errno ? errno : EIO;
	return error__set(err, -failure, "cannot write standard output: %s", strerror(failure));
}

static int run_dump(const struct dump_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct dump_command run = {
		.options = options, .log = &log, .filter = options->targets.filter};
	uint64_t began_ns = clock__boot_ns();
	int ret = process_filter__open(&run.filter, err);

	if (!ret)
		ret = set_up(&run, err);
	if (!ret)
		ret = choose_processes(&run, err);
	if (!ret)
		ret = take_dumps(&run, began_ns, err);
	if (!ret)
		ret = print(&run, err);
	if (!ret)
		*status = 0;
	dump__free(run.second);
	dump__free(run.first);
	dumper__free(run.dumper);
	memory_reader__free(run.memory);
	pid_list__clear(&run.pids);
	return ret;
}

int dump_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct dump_options options;
	int ret = dump_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &dump_options, status))
		ret = run_dump(&options, status, err);
	dump_options__clear(&options);
	return ret;
}
