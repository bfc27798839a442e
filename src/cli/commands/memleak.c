// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe memleak: live device memory by call site, and which sites grow, see memleak_options.h.
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/session/live_model.h"
#include "cli/options/memleak_options.h"
#include "cli/session/reports.h"
#include "cli/session/samples.h"
#include "cli/commands/subcommand.h"
#include "model/growth.h"
#include "output/memleak/memleak.h"
#include "output/memleak/site.h"

struct memleak {
	const struct memleak_command *options;
	const struct log *log;
	struct live_model *live;
	struct reports *reports;
	struct samples *samples;
	struct growth *growth;
	bool warned, broken;
};

/* --- reports --- */

static int print(FILE *out, void *arg)
{
	const struct memleak *memleak = arg;
	const struct memleak_command *options = memleak->options;
	const struct model *model = live_model__model(memleak->live);

	if (options->json)
		return memleak_json__print(out, model, memleak->growth, &options->output);
	return memleak_text__print(out, model, memleak->growth, &options->output);
}

static void sample(void *arg)
{
	struct memleak *memleak = arg;

	if (!growth__sample(memleak->growth, live_model__model(memleak->live)) || memleak->warned)
		return;
	memleak->warned = true;
	log__warn(memleak->log, "out of memory: the growth of some call sites is not judged");
}

static bool shows_broken(const struct memleak *memleak)
{
	const struct model *model = live_model__model(memleak->live);

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *p = &model->processes[i];

		for (size_t n = 0; n < p->live_site_count; n++) {
			const struct live_site *live = &p->live_sites[n];

			if (live->stack && live->stack->broken && memleak_site__shows(live, &memleak->options->output))
				return true;
		}
	}
	return false;
}

static void look(void *arg)
{
	struct memleak *memleak = arg;

	sample(memleak);
	memleak->broken = memleak->broken || shows_broken(memleak);
}

/* --- setting up --- */

static int set_up(struct memleak *memleak, struct error *err)
{
	const struct memleak_command *options = memleak->options;
	const struct live_model_options live = {
		.targets = &options->targets,
		.duration = options->duration,
		.end_with_pids = true,
		.sections = SECTION_MEMORY,
		.api = options->api,
		.limits = options->limits,
		.top = options->output.show_allocations ? 0 : 1,
		.stacks = options->stacks,
		.stack_sites = 1u << SITE_ALLOCATION,
		.live_filter = options->filter,
	};
	const struct reports_options reports = {
		.interval = options->interval,
		.count = options->count,
		.always_last = options->targets.command,
		.look = look,
		.print = print,
		.arg = memleak,
	};
	const struct samples_options samples = {
		.period = (double)GROWTH_SAMPLE_NS(options->window_ns) / (double)NS_PER_S,
		.with_lists = true,
		.take = sample,
		.arg = memleak,
	};
	int ret;

	memleak->growth = growth__new(options->window_ns, GROWTH_SITES_MAX);
	if (!memleak->growth)
		return error__set(err, -ENOMEM, "out of memory");
	ret = live_model__new(&live, memleak->log, &memleak->live, err);
	if (!ret)
		ret = reports__new(memleak->live, &reports, memleak->log, &memleak->reports, err);
	if (!ret)
		ret = live_model__prepare(memleak->live, err);
	if (!ret)
		ret = reports__start(memleak->reports, err);
	if (!ret)
		ret = samples__new(memleak->live, &samples, &memleak->samples, err);
	if (!ret)
		ret = live_model__attach(memleak->live, err);
	return ret;
}

static void tear_down(struct memleak *memleak)
{
	samples__free(memleak->samples);
	reports__free(memleak->reports);
	live_model__free(memleak->live);
	growth__free(memleak->growth);
}

static int run(const struct memleak_command *options, const struct log *log, int *status, struct error *err)
{
	struct memleak memleak = {.options = options, .log = log};
	int ret = set_up(&memleak, err);

	if (!ret)
		ret = session__run(live_model__session(memleak.live), err);
	if (!ret) {
		ret = reports__finish(memleak.reports, err);
		if (memleak.broken && options->stacks.mode == STACK_FP)
			log__warn(log, STACKS_BREAK_OFF);
	}
	if (!ret)
		*status = session__status(live_model__session(memleak.live));
	tear_down(&memleak);
	return ret;
}

int memleak_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct memleak_command options;
	struct log log;
	int ret = memleak_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &memleak_option_table, status)) {
		log.level = options.log_level;
		subcommand__set_bpf_log(log.level);
		ret = run(&options, &log, status, err);
	}
	memleak_options__clear(&options);
	return ret;
}
