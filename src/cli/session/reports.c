// SPDX-License-Identifier: BSD-2-Clause
// Prints reports when they are due, and the last one, see reports.h.
#include "cli/session/reports.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_stream.h"
#include "cli/files/console.h"
#include "cli/files/output_file.h"

struct reports {
	struct reports_options options;
	struct live_model *live;
	const struct log *log;
	struct console *console;
	int fd;
	struct event *due;
	/* collects the lists in steps, so that other events are served meanwhile */
	struct event *gather;
	unsigned long made;
};

/* The report as text in memory (malloc); NULL without memory. */
static char *render(const struct reports *reports, size_t *length)
{
	char *text = NULL;
	FILE *out = text_stream__open(&text, length);
	int ret;

	if (!out)
		return NULL;
	ret = reports->options.print(out, reports->options.arg);
	if (!fclose(out) && !ret)
		return text;
	free(text);
	return NULL;
}

static void report(struct reports *reports, bool final)
{
	size_t length = 0;
	char *text;

	if (final)
		live_model__finish(reports->live);
	else
		live_model__update(reports->live, true);
	if (reports->options.look)
		reports->options.look(reports->options.arg);
	text = render(reports, &length);
	if (text)
		console__write(reports->console, text, length);
	else
		log__warn(reports->log, "out of memory: a report is missing");
	if (!reports->options.whole)
		live_model__reported(reports->live);
	reports->made++;
}

static void on_output_closed(void *arg)
{
	struct reports *reports = arg;

	session__stop(live_model__session(reports->live));
}

static void report_next(struct reports *reports)
{
	report(reports, false);
	/* COMMAND runs on, watched to its end. */
	if (!reports->options.count || reports->made != reports->options.count)
		return;
	event_del(reports->due);
	if (!reports->options.always_last)
		session__stop(live_model__session(reports->live));
}

static void on_gather(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval at_once = {0};
	struct reports *reports = arg;

	(void)fd;
	(void)what;
	if (live_model__gather(reports->live))
		evtimer_add(reports->gather, &at_once);
	else
		report_next(reports);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval at_once = {0};
	struct reports *reports = arg;

	(void)fd;
	(void)what;
	/* A reader that has not taken the last report gets the next one after that. */
	if (console__is_busy(reports->console) || evtimer_pending(reports->gather, NULL))
		return;
	if (live_model__gathers(reports->live))
		evtimer_add(reports->gather, &at_once);
	else
		report_next(reports);
}

static int open_output(struct reports *reports, struct error *err)
{
	const char *file = reports->options.file;

	reports->fd = STDOUT_FILENO;
	if (file)
		reports->fd = output_file__open(file, err);
	if (reports->fd < 0)
		return reports->fd;
	return console__new(session__loop(live_model__session(reports->live)), reports->fd,
			    on_output_closed, reports, &reports->console, err);
}

int reports__new(struct live_model *live, const struct reports_options *options,
		 const struct log *log, struct reports **out, struct error *err)
{
	struct reports *reports = calloc(1, sizeof(*reports));
	int ret;

	if (!reports)
		return error__set(err, -ENOMEM, "out of memory");
	reports->options = *options;
	reports->live = live;
	reports->log = log;
	ret = open_output(reports, err);
	if (ret) {
		reports__free(reports);
		return ret;
	}
	*out = reports;
	return 0;
}

void reports__free(struct reports *reports)
{
	if (!reports)
		return;
	console__free(reports->console);
	if (reports->options.file && reports->fd >= 0)
		close(reports->fd);
	if (reports->due)
		event_free(reports->due);
	if (reports->gather)
		event_free(reports->gather);
	free(reports);
}

int reports__start(struct reports *reports, struct error *err)
{
	struct event_base *loop = session__loop(live_model__session(reports->live));
	struct timeval interval = clock__timeval(reports->options.interval);

	reports->due = event_new(loop, -1, EV_PERSIST, on_due, reports);
	reports->gather = evtimer_new(loop, on_gather, reports);
	if (!reports->due || !reports->gather)
		return error__set(err, -ENOMEM, "out of memory");
	if (reports->options.interval > 0 && event_add(reports->due, &interval))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

/*
 * The last report is for data that was not reported yet, so it is omitted once COUNT reports were
 * made.
 */
static bool wants_last(const struct reports *reports)
{
	const struct reports_options *options = &reports->options;

	return options->always_last || !options->count || reports->made < options->count;
}

int reports__finish(struct reports *reports, struct error *err)
{
	if (!console__finish(reports->console) && wants_last(reports)) {
		report(reports, true);
		console__finish(reports->console);
	}
	return console__failure(reports->console,
				reports->options.file ? reports->options.file : "standard output",
				err);
}
