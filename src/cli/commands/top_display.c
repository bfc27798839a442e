// SPDX-License-Identifier: BSD-2-Clause
// The full screen of `gpuprobe top`, see top_display.h.
#include "cli/commands/top_display.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "cli/commands/top_player.h"
#include "cli/files/messages.h"
#include "cli/session/looker.h"
#include "model/kernel_rates.h"
#include "output/top/detail.h"
#include "output/top/screen.h"
#include "output/top/table.h"

#define PLAY_INTERVAL 1.0	   /* seconds for each reading of a recording */
#define MESSAGE_NS (10 * NS_PER_S) /* how long a message stays in the last line */

struct top_display {
	struct top_watch *watch;
	struct event_base *loop;
	struct error err; /* of the player */
	int failure;
	struct ps_quiet *quiet; /* NULL: unknown */
	const struct top_options *options;
	const struct log *log;
	struct top_view view;
	struct filter_text only; /* --comm and the like */
	struct top_screen *screen;
	struct messages *messages;
	struct looker *looker;
	struct kernel_rates *kernels; /* of the process that is open */
	struct top_page detail;	      /* the page of that process, from the latest reading */
	struct event *due, *input, *resized, *continued;
	struct event *interrupted, *terminated; /* NULL: the session's */
	unsigned int shown;			/* readings so far */
	uint64_t message_ns;			/* when the latest message came */
	bool warned;
};

static struct model *model_of(const struct top_display *display)
{
	return display->watch->player ? top_player__model(display->watch->player) :
					live_model__model(display->watch->live);
}

static void warn_memory(struct top_display *display, int ret)
{
	if (ret && !display->warned)
		log__warn(display->log, "out of memory: top does not show everything");
	display->warned = display->warned || ret;
}

/* --- the page of a process --- */

static bool is_of_open(const struct finding *finding, const void *arg)
{
	const struct process *process = arg;

	return finding->pid == process->pid && finding->start_ns == process->start_ns;
}

static const struct process *find_open(const struct top_display *display, const struct model *model)
{
	for (size_t i = 0; model && i < model->process_count; i++)
		if (model->processes[i].pid == display->view.pid &&
		    model->processes[i].start_ns == display->view.start_ns)
			return &model->processes[i];
	return NULL;
}

static int add_detail(struct top_display *display, const struct process *process, bool quiet)
{
	struct finding_list findings = {0};
	struct top_detail detail = {
		.model = model_of(display),
		.process = process,
		.quiet = quiet,
		.kernels = display->kernels,
		.state = display->watch->findings,
		.findings = &findings,
		.form = display->options->form,
		.full_names = display->options->full_names,
		.recorded = display->watch->player,
		.width = top_screen__width(display->screen),
	};
	struct dump *dump = NULL;
	int ret = findings__detect(display->watch->findings, detail.model, &findings);

	finding_list__retain(&findings, is_of_open, process);
	process_rates__of(display->watch->rates, process, &detail.rate);
	warn_memory(display, kernel_rates__sample(display->kernels, process, detail.model->now_ns));
	/* The pid of a recorded process may be another one's by now. */
	if (!process->ended && !display->watch->player)
		dump = looker__look(display->looker, &process->pid, 1);
	if (dump && dump->count)
		detail.dump = dump;
	if (!ret)
		ret = top_detail__add(&display->detail, &detail);
	dump__free(dump);
	finding_list__clear(&findings);
	return ret;
}

/* Makes the page of the open process from the latest reading. */
static void look(struct top_display *display)
{
	const struct process *process = find_open(display, model_of(display));
	bool quiet = !process;

	if (quiet)
		process = find_open(display, ps_quiet__model(display->quiet));
	top_page__clear(&display->detail);
	if (process)
		warn_memory(display, add_detail(display, process, quiet));
	else
		top_page__add_text(&display->detail, TOP_TITLE, "the process has ended");
	/* The page may be shorter than before. */
	if (display->view.line >= display->detail.count)
		display->view.line = display->detail.count ? display->detail.count - 1 : 0;
}

/* --- drawing --- */

static size_t page_lines(const struct top_display *display)
{
	int height = top_screen__height(display->screen);

	return height > 1 ? (size_t)height - 1 : 0; /* the last line is not the page's */
}

static char *bottom_of(struct top_display *display)
{
	const char *message = messages__latest(display->messages);
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (message && clock__boot_ns() - display->message_ns > MESSAGE_NS)
		message = NULL;
	if (!out)
		return NULL;
	top_table__bottom(out, &display->view, message);
	return fclose(out) ? NULL : text;
}

static int make_list(struct top_display *display, struct top_list *list)
{
	const struct top_order order = top_view__order(&display->view);

	return top_list__make(list, model_of(display), ps_quiet__model(display->quiet),
			      display->watch->rates, &order);
}

static struct top_scene scene_of(const struct top_display *display, const struct top_list *list)
{
	return (struct top_scene){
		.model = model_of(display),
		.list = list,
		.findings = display->watch->findings,
		.view = &display->view,
		.only = display->only.text,
		.left_out = display->watch->live ?
				    live_model__filtered(display->watch->live)->left_out :
				    0,
		.width = top_screen__width(display->screen),
		.height = page_lines(display),
	};
}

static int add_table(struct top_display *display, struct top_page *page)
{
	struct top_list list;
	struct top_scene scene;
	int ret = make_list(display, &list);

	if (ret)
		return ret;
	scene = scene_of(display, &list);
	display->view.gpus_folded = top_table__folds_gpus(&scene);
	top_view__settle(&display->view, &list, top_table__rows(&scene));
	ret = top_table__add(page, &scene);
	top_list__clear(&list);
	return ret;
}

static void draw(struct top_display *display)
{
	const struct top_view *view = &display->view;
	char *bottom = bottom_of(display);
	struct top_page page = {0};

	if (view->mode == TOP_TABLE)
		warn_memory(display, add_table(display, &page));
	else if (view->mode == TOP_HELP)
		warn_memory(display, top_help__add(&page));
	if (view->mode == TOP_TABLE)
		top_screen__draw(display->screen, &page, 0, 0, bottom ? bottom : "");
	else
		top_screen__draw(display->screen,
				 view->mode == TOP_PROCESS ? &display->detail : &page, view->line,
				 view->column, bottom ? bottom : "");
	top_page__clear(&page);
	free(bottom);
}

/* --- readings --- */

static void stop(struct top_display *display)
{
	if (display->watch->live)
		session__stop(live_model__session(display->watch->live));
	else
		event_base_loopbreak(display->loop);
}

/* Another reading of a recording is there. */
static void take_reading(struct top_display *display, enum top_action move)
{
	const struct top_player *player = display->watch->player;

	/* Rates of kernels go on from one reading to the next only. */
	if (move != TOP_NEXT_READING) {
		kernel_rates__free(display->kernels);
		display->kernels = kernel_rates__new();
	}
	display->view.interval = top_player__interval(player);
	top_player__describe(player, display->view.moment, sizeof(display->view.moment));
	/* There is nothing to play behind the last one. */
	display->view.paused = display->view.paused || top_player__is_last(player);
	if (display->view.mode == TOP_PROCESS)
		look(display);
}

static void play(struct top_display *display, enum top_action move)
{
	display->failure = top_player__move(display->watch->player, move, &display->err);
	if (display->failure)
		stop(display);
	else
		take_reading(display, move);
}

static void read_model(struct top_display *display)
{
	struct top_watch *watch = display->watch;

	live_model__update(watch->live, display->options->stacks.mode != STACK_OFF);
	warn_memory(display, findings__sample(watch->findings, model_of(display)));
	/* The first reading comes at once, after too short a time for rates. */
	if (display->shown)
		warn_memory(display, process_rates__sample(watch->rates, model_of(display)));
	if (display->quiet)
		warn_memory(display, ps_quiet__refresh(display->quiet, model_of(display)));
	if (display->view.mode == TOP_PROCESS)
		look(display);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	struct top_display *display = arg;

	(void)fd;
	(void)what;
	if (display->watch->player) {
		if (!display->view.paused)
			play(display, TOP_NEXT_READING);
		draw(display); /* a message goes after a while */
		return;
	}
	if (display->view.paused)
		return;
	read_model(display);
	draw(display);
	live_model__reported(display->watch->live);
	display->shown++;
	if (display->shown == display->options->count)
		stop(display);
}

static void set_interval(struct top_display *display)
{
	const struct timeval interval =
		clock__timeval(display->watch->player ? PLAY_INTERVAL : display->view.interval);

	if (event_add(display->due, &interval))
		log__warn(display->log, "out of memory: the interval stays");
}

/* --- keys and signals --- */

static void take_key(struct top_display *display, int key)
{
	struct top_view *view = &display->view;
	struct top_list list = {0};
	struct top_scene scene = scene_of(display, &list);
	struct top_page help = {0};
	size_t rows = page_lines(display), lines = display->detail.count;
	enum top_action action;

	if (view->mode == TOP_TABLE) {
		warn_memory(display, make_list(display, &list));
		rows = top_table__rows(&scene);
		top_view__settle(view, &list, rows);
	} else if (view->mode == TOP_HELP && !top_help__add(&help)) {
		lines = help.count;
	}
	messages__forget_latest(display->messages);
	action = top_view__key(view, key, &list, rows, lines);
	switch (action) {
	case TOP_QUIT: stop(display); break;
	case TOP_LOOK: look(display); break;
	case TOP_NEW_INTERVAL: set_interval(display); break;
	case TOP_FIRST_READING:
	case TOP_PREVIOUS_READING:
	case TOP_NEXT_READING:
	case TOP_LAST_READING:
		view->paused = true;
		play(display, action);
		break;
	default: break;
	}
	top_page__clear(&help);
	top_list__clear(&list);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
	struct top_display *display = arg;
	int key = top_screen__key(display->screen);

	(void)fd;
	(void)what;
	if (key == TOP_NO_KEY && top_screen__hung_up(display->screen))
		stop(display);
	for (; key != TOP_NO_KEY; key = top_screen__key(display->screen))
		take_key(display, key);
	draw(display);
}

static void on_resized(evutil_socket_t number, short what, void *arg)
{
	struct top_display *display = arg;

	(void)number;
	(void)what;
	top_screen__resized(display->screen);
	draw(display);
}

/* A session handles these itself; a recording has none. */
static void on_stop(evutil_socket_t number, short what, void *arg)
{
	struct top_display *display = arg;

	(void)number;
	(void)what;
	stop(display);
}

static int make_stops(struct top_display *display)
{
	display->interrupted = evsignal_new(display->loop, SIGINT, on_stop, display);
	display->terminated = evsignal_new(display->loop, SIGTERM, on_stop, display);
	return display->interrupted && display->terminated &&
			       !event_add(display->interrupted, NULL) &&
			       !event_add(display->terminated, NULL) ?
		       0 :
		       -ENOMEM;
}

static void on_message(void *arg)
{
	struct top_display *display = arg;

	display->message_ns = clock__boot_ns();
	draw(display);
}

/* --- setting up --- */

static int make_events(struct top_display *display, struct error *err)
{
	struct event_base *loop = display->loop;

	display->due = event_new(loop, -1, EV_PERSIST, on_due, display);
	display->input = event_new(loop, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, display);
	display->resized = evsignal_new(loop, SIGWINCH, on_resized, display);
	/* It may have been resized while it was stopped. */
	display->continued = evsignal_new(loop, SIGCONT, on_resized, display);
	if (!display->due || !display->input || !display->resized || !display->continued ||
	    event_add(display->resized, NULL) || event_add(display->continued, NULL) ||
	    (display->watch->player && make_stops(display)))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

int top_display__new(struct top_watch *watch, struct event_base *loop,
		     const struct top_options *options, const struct log *log,
		     struct top_display **out, struct error *err)
{
	struct top_display *display = calloc(1, sizeof(*display));
	const struct top_page nothing = {0};
	int ret;

	if (!display)
		return error__set(err, -ENOMEM, "out of memory");
	display->watch = watch;
	display->loop = loop;
	display->options = options;
	display->log = log;
	display->view = top_options__view(options);
	display->only = process_filter__text(&options->targets.filter);
	display->looker = looker__new(log);
	display->kernels = kernel_rates__new();
	ret = display->kernels ? make_events(display, err) :
				 error__set(err, -ENOMEM, "out of memory");
	/* Before ncurses: it leaves a signal alone that somebody handles. */
	if (!ret)
		ret = top_screen__new(&display->screen, err);
	if (!ret)
		ret = messages__new(loop, on_message, display, &display->messages, err);
	if (ret) {
		top_display__free(display);
		return ret;
	}
	top_screen__draw(display->screen, &nothing, 0, 0,
			 watch->player ? "gpuprobe reads the recording" :
					 "gpuprobe is attaching its probes");
	*out = display;
	return 0;
}

int top_display__start(struct top_display *display, struct ps_quiet *quiet, struct error *err)
{
	int ret;

	display->quiet = quiet;
	if (display->watch->live)
		live_model__expect_reports(display->watch->live);
	set_interval(display);
	if (event_add(display->input, NULL))
		return error__set(err, -ENOMEM, "out of memory");
	if (!display->watch->player) {
		on_due(-1, 0, display);
		return 0;
	}
	display->view.recorded = display->view.paused = true;
	ret = top_player__begin(display->watch->player, err);
	if (ret)
		return ret;
	take_reading(display, TOP_FIRST_READING);
	draw(display);
	return 0;
}

int top_display__error(const struct top_display *display, struct error *err)
{
	return display->failure ? error__set(err, display->failure, "%s", display->err.text) : 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void top_display__free(struct top_display *display)
{
	if (!display)
		return;
	free_event(display->due);
	free_event(display->input);
	free_event(display->resized);
	free_event(display->continued);
	free_event(display->interrupted);
	free_event(display->terminated);
	top_screen__free(display->screen);
	messages__free(display->messages);
	kernel_rates__free(display->kernels);
	looker__free(display->looker);
	top_page__clear(&display->detail);
	free(display);
}
