// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe memleak: live device memory by call site, and which sites grow, see memleak_options.h.
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/console.h"
#include "cli/counting.h"
#include "cli/memleak_options.h"
#include "cli/subcommand.h"
#include "model/growth.h"
#include "output/memleak.h"
#include "output/memleak_site.h"

/* Sampling takes a tenth of the time at most, however many allocations there are to walk over. */
#define SAMPLE_SHARE 10

struct memleak {
	const struct memleak_command *options;
	const struct log *log;
	struct counting *counting;
	struct console *console;
	struct growth *growth;
	struct event *sample, *display;
	unsigned long reports;
	bool warned, broken;
};

/* --- reports --- */

/* The report as text in memory (malloc); NULL without. */
static char *render(const struct memleak *memleak, size_t *length)
{
	const struct memleak_command *options = memleak->options;
	const struct model *model = counting__model(memleak->counting);
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	if (!out)
		return NULL;
	if (options->json)
		memleak_json__print(out, model, memleak->growth, &options->output);
	else
		memleak_text__print(out, model, memleak->growth, &options->output);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void sample(struct memleak *memleak)
{
	if (!growth__sample(memleak->growth, counting__model(memleak->counting)) || memleak->warned)
		return;
	memleak->warned = true;
	log__warn(memleak->log, "no memory for what some call sites had live");
}

static bool shows_broken(const struct memleak *memleak)
{
	const struct model *model = counting__model(memleak->counting);

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

static void report(struct memleak *memleak, bool final)
{
	size_t length = 0;
	char *text;

	if (final)
		counting__finish(memleak->counting);
	else
		counting__update(memleak->counting, true);
	sample(memleak);
	memleak->broken = memleak->broken || shows_broken(memleak);
	text = render(memleak, &length);
	if (text)
		console__write(memleak->console, text, length);
	else
		log__warn(memleak->log, "no memory for a report");
	counting__reported(memleak->counting);
	memleak->reports++;
}

static void on_output_closed(void *arg)
{
	struct memleak *memleak = arg;

	session__stop(counting__session(memleak->counting));
}

/* --- what happens --- */

static struct timeval to_timeval(double seconds)
{
	double whole = floor(seconds);

	return (struct timeval){.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)((seconds - whole) * 1e6)};
}

/* A factor of 0.75 to 1.25: samples in step with a program's batches would take their beat for growth. */
static double uneven(void)
{
	uint32_t number = UINT32_MAX / 2;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return 1;
	return 0.75 + 0.5 * number / UINT32_MAX;
}

static void on_sample(evutil_socket_t fd, short what, void *arg)
{
	struct memleak *memleak = arg;
	double period = (double)GROWTH_SAMPLE_NS(memleak->options->window_ns) / (double)NS_PER_S, took;
	uint64_t began = clock__boot_ns();
	struct timeval wait;

	(void)fd;
	(void)what;
	counting__update(memleak->counting, true);
	sample(memleak);
	took = (double)(clock__boot_ns() - began) / (double)NS_PER_S;
	wait = to_timeval(fmax(period * uneven() - took, SAMPLE_SHARE * took));
	evtimer_add(memleak->sample, &wait);
}

static void on_display(evutil_socket_t fd, short what, void *arg)
{
	struct memleak *memleak = arg;

	(void)fd;
	(void)what;
	/* Who has not read the last report yet gets the next when he has. */
	if (!console__is_busy(memleak->console))
		report(memleak, false);
	/* COMMAND goes on, and is watched to its end. */
	if (memleak->reports != memleak->options->count)
		return;
	event_del(memleak->display);
	if (!memleak->options->targets.command)
		session__stop(counting__session(memleak->counting));
}

/* --- setting up --- */

static int make_events(struct memleak *memleak, struct error *err)
{
	struct event_base *loop = session__loop(counting__session(memleak->counting));
	struct timeval interval = to_timeval(memleak->options->interval), at_once = {0};

	memleak->display = event_new(loop, -1, EV_PERSIST, on_display, memleak);
	memleak->sample = evtimer_new(loop, on_sample, memleak);
	if (!memleak->display || !memleak->sample)
		return error__set(err, -ENOMEM, "out of memory");
	event_add(memleak->display, &interval);
	evtimer_add(memleak->sample, &at_once);
	return 0;
}

static int set_up(struct memleak *memleak, struct error *err)
{
	const struct memleak_command *options = memleak->options;
	const struct counting_options counting = {
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
	int ret;

	memleak->growth = growth__new(options->window_ns, GROWTH_SITES_MAX);
	if (!memleak->growth)
		return error__set(err, -ENOMEM, "out of memory");
	ret = counting__new(&counting, memleak->log, &memleak->counting, err);
	if (!ret)
		ret = console__new(session__loop(counting__session(memleak->counting)), STDOUT_FILENO,
				   on_output_closed, memleak, &memleak->console, err);
	if (!ret)
		ret = counting__prepare(memleak->counting, err);
	if (!ret)
		ret = make_events(memleak, err);
	if (!ret)
		ret = counting__attach(memleak->counting, err);
	return ret;
}

static void tear_down(struct memleak *memleak)
{
	console__free(memleak->console);
	if (memleak->sample)
		event_free(memleak->sample);
	if (memleak->display)
		event_free(memleak->display);
	counting__free(memleak->counting);
	growth__free(memleak->growth);
}

/* The last report is of what has not been told: not of what COUNT reports have. */
static bool wants_last(const struct memleak *memleak)
{
	return memleak->options->targets.command || !memleak->options->count ||
	       memleak->reports < memleak->options->count;
}

static int run(const struct memleak_command *options, const struct log *log, int *status, struct error *err)
{
	struct memleak memleak = {.options = options, .log = log};
	int ret = set_up(&memleak, err);

	if (!ret)
		ret = session__run(counting__session(memleak.counting), err);
	if (!ret) {
		if (!console__finish(memleak.console) && wants_last(&memleak)) {
			report(&memleak, true);
			console__finish(memleak.console);
		}
		if (memleak.broken && options->stacks.mode == STACK_FP)
			log__warn(log, STACKS_BREAK_OFF);
		ret = console__failure(memleak.console, err);
	}
	if (!ret)
		*status = session__status(counting__session(memleak.counting));
	tear_down(&memleak);
	return ret;
}

int memleak_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct memleak_command options;
	struct log log;
	int ret = memleak_options__parse(&options, argc, argv, err);

	if (ret == MEMLEAK_RUN) {
		log.level = options.log_level;
		subcommand__set_bpf_log(log.level);
		ret = run(&options, &log, status, err);
	} else if (ret == MEMLEAK_HELP) {
		*status = 0;
		memleak_options__print_help(stdout);
	} else {
		*status = EXIT_USAGE;
	}
	memleak_options__clear(&options);
	return ret;
}
