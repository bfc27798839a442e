// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe snapshot`: writes a process's tensors for PyTorch's visualiser; see subcommand.h.
#include "output/snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text_stream.h"
#include "cli/commands/subcommand.h"
#include "cli/files/atomic_file.h"
#include "cli/options/snapshot_options.h"
#include "cli/session/live_run.h"
#include "model/tensors.h"

struct snapshot_run {
	const struct snapshot_options *options;
	const struct log *log;
	struct live_run *live;
	struct atomic_file *file;
};

static int set_up(struct snapshot_run *run, struct error *err)
{
	const struct snapshot_options *options = run->options;
	struct live_run_options live = {
		.announces = true,
		.live =
			{
				.targets = &options->targets,
				.duration = options->duration,
				.sections = SECTION_MEMORY,
				.api = API_AUTO,
				.limits = LIVE_MODEL_LIMITS,
				.stacks = options->stacks,
				.tensor_events = options->max_events,
				.tensor_python = !options->stacks.given[OPT_STACK],
				.stack_sites = 1u << SITE_ALLOCATION,
			},
	};
	int ret;

	live.live.limits.max_tensors = live.live.limits.max_allocations;
	/* First, while a signal still ends gpuprobe: it may be a pipe without a reader. */
	ret = atomic_file__new(options->file, &run->file, err);
	if (!ret)
		ret = live_run__new(&live, run->log, &run->live, err);
	return ret ? ret : live_run__attach(run->live, err);
}

/* The process of -p, or of those of COMMAND the one with the most bytes in tensors. */
static const struct process *find_process(const struct model *model, const struct targets *targets)
{
	const struct process *found = NULL;

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (!process->tensors || (!targets->command && process->pid != targets->pids[0]))
			continue;
		if (!found || process->tensors->live_bytes >= found->tensors->live_bytes)
			found = process;
	}
	return found;
}

static int write_snapshot(const struct snapshot_run *run, const struct process *process,
			  struct error *err)
{
	const struct model *model = live_model__model(run->live->live);
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);
	struct live_model *live = run->live->live;
	const struct snapshot_trace trace = {
		.trace = live_model__tensor_trace(live),
		.wall = model->wall,
		.now_ns = model->now_ns,
		.lost = model->lost[LOSS_TENSOR_RING_FULL],
		.find = live_model__stack,
		.arg = live,
	};
	int ret = out ? snapshot__print(out, process, &trace) : -ENOMEM;

	if (out && fclose(out) && !ret)
		ret = -ENOMEM;
	ret = ret ? error__set(err, ret, "out of memory") :
		    atomic_file__write(run->file, text, length, err);
	free(text);
	return ret;
}

static int finish(const struct snapshot_run *run, struct error *err)
{
	struct session *session = live_model__session(run->live->live);
	const struct process *process;

	live_model__finish(run->live->live);
	session__detach(session);
	session__release_signals(session);
	process = find_process(live_model__model(run->live->live), &run->options->targets);
	if (!process)
		return error__set(
			err, -ENODATA,
			"no tensor was made while gpuprobe watched, so there is nothing to "
			"write: give a longer --duration; gpuprobe check says what can be "
			"watched");
	return write_snapshot(run, process, err);
}

static int run_snapshot(const struct snapshot_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct snapshot_run run = {.options = options, .log = &log};
	int ret = set_up(&run, err);

	if (!ret)
		ret = live_run__until_end(run.live, err);
	if (!ret)
		ret = finish(&run, err);
	if (!ret)
		*status = live_run__status(run.live);
	atomic_file__free(run.file);
	live_run__free(run.live);
	return ret;
}

int snapshot_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct snapshot_options options;
	int ret = snapshot_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &snapshot_options, status))
		ret = run_snapshot(&options, status, err);
	snapshot_options__clear(&options);
	return ret;
}
