// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe top: GPUs and processes on a full screen, or as text with -b, see top_options.h.
#include <errno.h>
#include <event2/event.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/top_display.h"
#include "cli/commands/top_player.h"
#include "cli/files/terminal.h"
#include "cli/options/top_options.h"
#include "cli/session/live_run.h"
#include "gpuprobe/steps.h"
#include "output/top/table.h"

#define STEP_THREADS_WATCHED 64 /* each has a record of about 200 KiB */
/* A verdict's window begins at a reading, so readings must not be rare. */
#define LONGEST_SAMPLES 4.0
#define SECOND_SAMPLE 0.5
/* Of lines that do not go to a terminal: all columns have room. */
#define BATCH_WIDTH 160
#define EXACT_BATCH_WIDTH 220

struct top {
	const struct top_options *options;
	const struct log *log;
	struct replay *replay; /* NULL: live */
	struct live_run *live;
	struct event_base *loop; /* of a recording on the screen; NULL: the session's */
	struct top_watch watch;
	struct ps_quiet *quiet;	     /* NULL: /proc cannot be listed */
	struct ps_request request;   /* for `quiet` */
	struct top_display *display; /* NULL: batch */
	struct top_view view;	     /* of the batch */
	uint64_t shown_ns;	     /* of a recording: the latest reading that was shown */
	bool warned;
};

static void warn_memory(struct top *top, int ret)
{
	if (ret && !top->warned)
		log__warn(top->log, "out of memory: top does not show everything");
	top->warned = top->warned || ret;
}

/* --- batch --- */

static void sample(void *arg)
{
	struct top *top = arg;

	warn_memory(top, findings__sample(top->watch.findings, live_run__model(top->live)));
}

/* Rates are over the time since the reading before. */
static void note_interval(struct top *top)
{
	uint64_t now_ns = live_run__model(top->live)->now_ns;

	top->view.interval = (double)(now_ns - top->shown_ns) / (double)NS_PER_S;
	top->shown_ns = now_ns;
}

static void look(void *arg)
{
	struct top *top = arg;

	sample(top);
	warn_memory(top, process_rates__sample(top->watch.rates, live_run__model(top->live)));
	if (top->quiet)
		warn_memory(top, ps_quiet__refresh(top->quiet, live_run__model(top->live)));
	if (top->replay)
		note_interval(top);
}

static unsigned int batch_width(enum quantity_form form)
{
	return form == QUANTITY_EXACT ? EXACT_BATCH_WIDTH : BATCH_WIDTH;
}

static int print(FILE *out, void *arg)
{
	const struct top *top = arg;
	const struct top_order order = top_view__order(&top->view);
	const struct filter_text only = process_filter__text(&top->options->targets.filter);
	unsigned int terminal = terminal__width(STDOUT_FILENO);
	struct top_scene scene = {
		.model = live_run__model(top->live),
		.findings = top->watch.findings,
		.view = &top->view,
		.only = only.text,
		.left_out = top->replay ? 0 : live_model__filtered(top->live->live)->left_out,
		.width = terminal ? terminal : batch_width(top->view.form),
	};
	struct top_page page = {0};
	struct top_list list;
	int ret = top_list__make(&list, scene.model, ps_quiet__model(top->quiet), top->watch.rates,
				 &order);

	scene.list = &list;
	if (!ret)
		ret = top_table__add(&page, &scene);
	if (!ret)
		top_page__print(out, &page, (int)terminal);
	fputc('\n', out);
	top_page__clear(&page);
	top_list__clear(&list);
	return ret;
}

/* --- setting up --- */

static int check_terminal(const struct top_options *options, struct error *err)
{
	if (options->batch || options->input.path ||
	    (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return 0;
	return error__set(
		err, -ENOTTY,
		"top needs a terminal as standard input and output: use -b to print text");
}

static void fill_reports(struct top *top, struct live_run_options *live)
{
	const struct top_options *options = top->options;

	live->reports = (struct reports_options){
		/* Each reading of a recording is due, unless it is left out. */
		.interval = options->interval > 0 ? options->interval : 1e-9,
		.count = options->count,
		.look = look,
		.print = print,
		.arg = top,
	};
}

/*
 * Processes that make no call are in no model. The probes are attached, so none that begins to use
 * CUDA later escapes both.
 */
static void find_quiet(struct top *top)
{
	struct error err;

	top->request = (struct ps_request){
		.pids = top->options->targets.pids,
		.pid_count = top->options->targets.pid_count,
		.filter = live_model__filter(top->live->live),
		.attribution = live_model__attribution(top->live->live),
	};
	if (ps_quiet__new(&top->request, &top->quiet, &err))
		log__warn(top->log, "idle processes are not listed: %s", err.text);
}

/*
 * Running processes make calls while the probes are attached, which takes seconds on a busy
 * machine: the first interval begins with a reading that has these calls.
 */
static int begin_rates(struct top *top)
{
	live_model__update(top->live->live, false);
	process_rates__begin(top->watch.rates, 0);
	return process_rates__sample(top->watch.rates, live_run__model(top->live));
}

/* The interval of the first reading begins where the recording does. */
static int begin_watch(struct top *top, struct error *err)
{
	uint64_t began_ns = top->replay ? replay__reading(top->replay)->began_ns : clock__boot_ns();
	int ret = top_watch__begin(&top->watch, began_ns);

	if (!ret && !top->replay)
		ret = begin_rates(top);
	top->shown_ns = began_ns;
	return ret ? error__set(err, ret, "out of memory") : 0;
}

/* On a terminal a recording is shown on the screen, too. */
static bool is_batch(const struct top *top)
{
	return top->options->batch || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
}

/* A session has its loop; a recording only needs one for the screen. */
static int make_display(struct top *top, struct error *err)
{
	struct event_base *loop;
	int ret = 0;

	if (top->replay) {
		loop = top->loop = event_base_new();
		top->watch.player =
			top_player__new(top->replay, &top->watch, top->options->interval);
		if (!loop || !top->watch.player)
			ret = error__set(err, -ENOMEM, "out of memory");
	} else {
		loop = session__loop(live_model__session(top->live->live));
	}
	return ret ? ret :
		     top_display__new(&top->watch, loop, top->options, top->log, &top->display,
				      err);
}

static int set_up(struct top *top, struct error *err)
{
	const struct top_options *options = top->options;
	bool batch = is_batch(top);
	struct live_run_options live = {
		.replay = top->replay,
		.live =
			{
				.targets = &options->targets,
				.sections = SECTION_ALL,
				.api = options->api,
				.needs = NEEDS_PROFILE | NEEDS_NCCL,
				.watch_gpus = true,
				.steps = STEP_THREADS_WATCHED,
				.max_overhead = options->max_overhead,
				.limits = options->limits,
				.top = 1,
				.stacks = options->stacks,
				.stack_sites = ((1u << SITE_KINDS) - 1) & ~(1u << SITE_COPY),
			},
		/* The first two are early: with them begins the window of the first verdict. */
		.samples = {.period = options->interval > LONGEST_SAMPLES ? LONGEST_SAMPLES : 0,
			    .second = SECOND_SAMPLE,
			    .take = sample,
			    .arg = top},
	};
	int ret;

	if (batch)
		fill_reports(top, &live);
	ret = live_run__new(&live, top->log, &top->live, err);
	top->watch.live = ret ? NULL : top->live->live;
	if (!ret && !batch)
		ret = make_display(top, err);
	if (!ret)
		ret = live_run__attach(top->live, err);
	if (ret)
		return ret;
	if (!top->replay)
		find_quiet(top);
	ret = begin_watch(top, err);
	return !ret && top->display ? top_display__start(top->display, top->quiet, err) : ret;
}

/* Shows a recording until the person quits. */
static int show(const struct top *top, struct error *err)
{
	return event_base_dispatch(top->loop) < 0 ? error__set(err, -EIO, "the event loop failed") :
						    top_display__error(top->display, err);
}

static int run(const struct top_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct top top = {
		.options = options,
		.log = &log,
		.view = top_options__view(options),
		.watch.full_names = options->full_names,
	};
	int ret = check_terminal(options, err);

	if (ret == -ENOTTY)
		*status = EXIT_USAGE;
	if (!ret && options->input.path)
		ret = replay__new(&options->input, &log, &top.replay, err);
	if (!ret)
		ret = set_up(&top, err);
	if (!ret)
		ret = top.loop ? show(&top, err) : live_run__until_end(top.live, err);
	if (!ret)
		*status = live_run__status(top.live);
	top_display__free(top.display);
	ps_quiet__free(top.quiet);
	top_player__free(top.watch.player);
	top_watch__clear(&top.watch);
	live_run__free(top.live);
	if (top.loop)
		event_base_free(top.loop);
	replay__free(top.replay);
	return ret;
}

int top_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct top_options options;
	int ret = top_options__parse(&options, argc, argv, err);

	/* For the width of characters; numbers keep their points. */
	setlocale(LC_CTYPE, "");
	if (!subcommand__is_done(ret, &top_options, status))
		ret = run(&options, status, err);
	top_options__clear(&options);
	return ret;
}
