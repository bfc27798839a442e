// SPDX-License-Identifier: BSD-2-Clause
// Signals, the deadline and COMMAND's end, see stop_events.h.
#include "cli/session/stop_events.h"

#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cli/session/child_command.h"
#include "cli/session/signals.h"

struct stop_events {
	struct event_base *loop;
	const struct log *log;
	struct event *signals, *deadline;
	struct child_command *command; /* NULL: none */
	const char *name;	       /* its program */
	unsigned int grace_ms;
	int signal_fd;
	int timer_fd; /* timer of the deadline */
	int end_fd;   /* an epoll of signals and timer */
	int status;   /* exit status */
	bool interrupted;
};

/* --- events --- */

/* gpuprobe ends before COMMAND, which was sent a signal to end. */
static void end_without_command(struct stop_events *events)
{
	if (!child_command__ended(events->command, &events->status))
		log__warn(events->log, "%s (%d) has not ended: it keeps running", events->name,
			  child_command__pid(events->command));
	event_base_loopbreak(events->loop);
}

static int set_deadline(const struct stop_events *events, double seconds)
{
	double whole = floor(seconds);
	struct itimerspec at = {
		.it_value = {.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e9)}};

	if (!at.it_value.tv_sec && !at.it_value.tv_nsec)
		at.it_value.tv_nsec = 1; /* 0 would disarm the timer */
	return timerfd_settime(events->timer_fd, 0, &at, NULL) ? -errno : 0;
}

/* The deadline of the duration, or of COMMAND's grace time. */
static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct stop_events *events = arg;
	uint64_t times;

	(void)what;
	if (read(fd, &times, sizeof(times)) != sizeof(times))
		return; /* the timer was set again */
	if (events->interrupted)
		end_without_command(events);
	else
		event_base_loopbreak(events->loop);
}

/* Ctrl-C on the terminal reaches COMMAND as well; a signal sent only to gpuprobe is passed on. */
static void on_stop_signal(struct stop_events *events, const struct signalfd_siginfo *info)
{
	if (!events->command) {
		event_base_loopbreak(events->loop);
		return;
	}
	if (events->interrupted) {
		end_without_command(events);
		return;
	}
	events->interrupted = true;
	if (info->ssi_code == SI_USER || info->ssi_signo != SIGINT)
		child_command__signal(events->command, (int)info->ssi_signo);
	if (events->grace_ms)
		set_deadline(events, events->grace_ms / 1000.0);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct stop_events *events = arg;
	struct signalfd_siginfo info;

	(void)what;
	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			on_stop_signal(events, &info);
		else if (events->command && child_command__ended(events->command, &events->status))
			event_base_loopbreak(events->loop);
	}
}

/* --- setting up --- */

/* Uses descriptors, so that code that waits outside the loop can poll them too. */
static int open_deadline(struct stop_events *events, struct error *err)
{
	struct epoll_event waiting = {.events = EPOLLIN};

	events->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	events->end_fd = epoll_create1(EPOLL_CLOEXEC);
	if (events->timer_fd < 0 || events->end_fd < 0 ||
	    epoll_ctl(events->end_fd, EPOLL_CTL_ADD, events->timer_fd, &waiting) ||
	    epoll_ctl(events->end_fd, EPOLL_CTL_ADD, events->signal_fd, &waiting))
		return error__set(err, -errno, "cannot make a timer: %s", strerror(errno));
	return 0;
}

static int open_signals(struct stop_events *events, struct error *err)
{
	sigset_t set;

	signals__fill_stop(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return error__set(err, -errno, "cannot block signals: %s", strerror(errno));
	signals__survive_write(SIGPIPE);
	events->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (events->signal_fd < 0)
		return error__set(err, -errno, "cannot open a signalfd: %s", strerror(errno));
	return 0;
}

int stop_events__new(struct event_base *loop, unsigned int grace_ms, const struct log *log,
		     struct stop_events **out, struct error *err)
{
	struct stop_events *events = calloc(1, sizeof(*events));
	int ret;

	if (!events)
		return error__set(err, -ENOMEM, "out of memory");
	events->loop = loop;
	events->log = log;
	events->grace_ms = grace_ms;
	events->signal_fd = events->timer_fd = events->end_fd = -1;
	ret = open_signals(events, err);
	if (!ret)
		ret = open_deadline(events, err);
	if (ret) {
		stop_events__free(events);
		return ret;
	}
	*out = events;
	return 0;
}

int stop_events__start(struct stop_events *events, struct child_command *command, const char *name,
		       struct error *err)
{
	events->command = command;
	events->name = name;
	events->signals =
		event_new(events->loop, events->signal_fd, EV_READ | EV_PERSIST, on_signal, events);
	events->deadline = event_new(events->loop, events->timer_fd, EV_READ | EV_PERSIST,
				     on_deadline, events);
	if (!events->signals || !events->deadline)
		return error__set(err, -ENOMEM, "out of memory");
	if (event_add(events->signals, NULL) || event_add(events->deadline, NULL))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

int stop_events__end_after(struct stop_events *events, double seconds, struct error *err)
{
	if (set_deadline(events, seconds))
		return error__set(err, -errno, "cannot set a timer: %s", strerror(errno));
	return 0;
}

int stop_events__fd(const struct stop_events *events)
{
	return events->end_fd;
}

int stop_events__status(const struct stop_events *events)
{
	return events->status;
}

void stop_events__release_signals(void)
{
	sigset_t set;

	signals__fill_stop(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void stop_events__free(struct stop_events *events)
{
	if (!events)
		return;
	if (events->signals)
		event_free(events->signals);
	if (events->deadline)
		event_free(events->deadline);
	close_one(events->end_fd);
	close_one(events->timer_fd);
	close_one(events->signal_fd);
	free(events);
}
