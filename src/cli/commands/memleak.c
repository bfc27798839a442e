// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe memleak: live device memory by call site, and which sites grow, see memleak_options.h.
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/files/terminal.h"
#include "cli/options/memleak_options.h"
#include "cli/session/live_run.h"
#include "cli/commands/subcommand.h"
#include "model/growth.h"
#include "output/memleak/memleak.h"
#include "output/memleak/site.h"
#include "output/prose.h"

#define STEP_THREADS_WATCHED 16 /* each has a record of about 200 KiB */

struct memleak {
	const struct memleak_command *options;
	const struct log *log;
	struct replay *replay; /* NULL: live */
	struct live_run *live;
	struct growth *growth;	/* of memory from CUDA */
	struct growth *tensors; /* of tensors; NULL: not watched */
	struct growth *pinned;	/* of pinned host memory */
	bool warned;
	struct stack_break broken; /* in stacks that were shown */
};

/* --- reports --- */

static int print(FILE *out, void *arg)
{
	const struct memleak *memleak = arg;
	const struct memleak_command *options = memleak->options;
	const struct model *model = live_run__model(memleak->live);
	const struct memleak_growth growth = {memleak->growth, memleak->tensors, memleak->pinned};
	struct prose prose;
	FILE *text;
	int ret;

	if (options->json)
		return memleak_json__print(out, model, &growth, &options->output);
	text = prose__begin(&prose, out, terminal__width(STDOUT_FILENO));
	ret = memleak_text__print(text, model, &growth, &options->output);
	prose__end(&prose, text);
	return ret;
}

static void sample(void *arg)
{
	struct memleak *memleak = arg;
	const struct model *model = live_run__model(memleak->live);
	int ret = growth__sample(memleak->growth, model);

	if (memleak->tensors && !ret)
		ret = growth__sample(memleak->tensors, model);
	if (!ret)
		ret = growth__sample(memleak->pinned, model);
	if (!ret || memleak->warned)
		return;
	memleak->warned = true;
	log__warn(memleak->log, "out of memory: the growth of some call sites is not judged");
}

static void note_broken_in(struct memleak *memleak, const struct live_site *sites, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (memleak_site__shows(&sites[i], &memleak->options->output))
			stack_break__note(&memleak->broken, sites[i].stack);
}

static void note_broken(struct memleak *memleak)
{
	const struct memleak_options *options = &memleak->options->output;
	const struct model *model = live_run__model(memleak->live);

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		if (memleak_level__shows_segments(p, options))
			note_broken_in(memleak, p->live_sites, p->live_site_count);
		if (memleak_level__shows_tensors(p, options))
			note_broken_in(memleak, p->tensors->live_sites,
				       p->tensors->live_site_count);
	}
}

static void look(void *arg)
{
	struct memleak *memleak = arg;

	sample(memleak);
	note_broken(memleak);
}

/* --- setting up --- */

static int set_up(struct memleak *memleak, struct error *err)
{
	const struct memleak_command *options = memleak->options;
	const struct live_run_options live = {
		.replay = memleak->replay,
		.announces = true,
		.live =
			{
				.targets = &options->targets,
				.duration = options->duration,
				.sections = SECTION_MEMORY | SECTION_OBJECTS |
					    (options->steps ? SECTION_ALL : 0),
				.steps = options->steps ? STEP_THREADS_WATCHED : 0,
				.api = options->api,
				.limits = options->limits,
				.oom_reports = true,
				.oom_directory = options->oom_directory,
				.top = options->output.show_allocations ? 0 : 1,
				.stacks = options->stacks,
				.tensor_python = !options->stacks.given[OPT_STACK],
				.tensor_overhead = options->max_overhead,
				.stack_sites = 1u << SITE_ALLOCATION | 1u << SITE_OBJECT |
					       1u << SITE_FAILURE,
				.live_filter = options->filter,
			},
		.reports =
			{
				.interval = options->interval,
				.count = options->count,
				.always_last = options->targets.command,
				.look = look,
				.print = print,
				.arg = memleak,
			},
		.samples =
			{
				.period = (double)GROWTH_SAMPLE_NS(options->window_ns) /
					  (double)NS_PER_S,
				.with_lists = true,
				.take = sample,
				.arg = memleak,
			},
	};
	int ret = 0;

	memleak->growth = growth__new(options->window_ns, GROWTH_SITES_MAX);
	if (options->limits.max_tensors)
		memleak->tensors = growth__new_of_tensors(options->window_ns, GROWTH_SITES_MAX);
	memleak->pinned = growth__new_of_pinned(options->window_ns, GROWTH_SITES_MAX);
	if (!memleak->growth || !memleak->pinned ||
	    (options->limits.max_tensors && !memleak->tensors))
		return error__set(err, -ENOMEM, "out of memory");
	ret = live_run__new(&live, memleak->log, &memleak->live, err);
	return ret ? ret : live_run__attach(memleak->live, err);
}

static int run(const struct memleak_command *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct memleak memleak = {.options = options, .log = &log};
	int ret =
		options->input.path ? replay__new(&options->input, &log, &memleak.replay, err) : 0;

	if (!ret)
		ret = set_up(&memleak, err);

	if (!ret)
		ret = live_run__until_end(memleak.live, err);
	stack_choice__warn_broken(&options->stacks, &memleak.broken, &log);
	if (!ret)
		*status = live_run__status(memleak.live);
	live_run__free(memleak.live);
	replay__free(memleak.replay);
	growth__free(memleak.growth);
	growth__free(memleak.tensors);
	growth__free(memleak.pinned);
	return ret;
}

int memleak_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct memleak_command options;
	int ret = memleak_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &memleak_option_table, status))
		ret = run(&options, status, err);
	memleak_options__clear(&options);
	return ret;
}
