// SPDX-License-Identifier: BSD-2-Clause
// Writes standard output in pieces, see console.h.
#include "cli/files/console.h"

#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The descriptor is shared with others (the shell), so it is not made non-blocking. A pipe that
 * polls writable takes PIPE_BUF bytes at once.
 */
#define PIECE PIPE_BUF

struct console {
	int fd;
	struct event *writable;
	char *text;
	size_t length, written;
	int failure; /* a negative errno: writing failed for good */
	void (*closed)(void *arg);
	void *arg;
};

static void forget_text(struct console *console)
{
	free(console->text);
	console->text = NULL;
	console->length = console->written = 0;
}

/* Writes one piece. Returns 0 or a negative errno. */
static int write_piece(struct console *console)
{
	size_t left = console->length - console->written;
	ssize_t n =
		write(console->fd, console->text + console->written, left < PIECE ? left : PIECE);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	console->written += (size_t)n;
	return 0;
}

static bool takes_more(const struct console *console)
{
	struct pollfd poller = {.fd = console->fd, .events = POLLOUT};

	return poll(&poller, 1, 0) > 0;
}

static void fail(struct console *console, int failure)
{
	console->failure = failure;
	forget_text(console);
	console->closed(console->arg);
}

static void advance(struct console *console)
{
	while (console->written < console->length) {
		int ret;

		if (takes_more(console))
			ret = write_piece(console);
		else if (event_add(console->writable, NULL))
			ret = -ENOMEM;
		else
			return;
		if (ret) {
			fail(console, ret);
			return;
		}
	}
	forget_text(console);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	advance(arg);
}

int console__new(struct event_base *loop, int fd, void (*closed)(void *arg), void *arg,
		 struct console **out, struct error *err)
{
	struct console *console = calloc(1, sizeof(*console));

	if (!console)
		return error__set(err, -ENOMEM, "out of memory");
	console->fd = fd;
	console->closed = closed;
	console->arg = arg;
	console->writable = event_new(loop, fd, EV_WRITE, on_writable, console);
	if (!console->writable) {
		free(console);
		return error__set(err, -ENOMEM, "out of memory");
	}
	*out = console;
	return 0;
}

void console__free(struct console *console)
{
	if (!console)
		return;
	event_free(console->writable);
	forget_text(console);
	free(console);
}

bool console__is_busy(const struct console *console)
{
	return console->text;
}

void console__write(struct console *console, char *text, size_t length)
{
	if (console->failure || console->text) {
		free(text);
		return;
	}
	console->text = text;
	console->length = length;
	advance(console);
}

int console__finish(struct console *console)
{
	event_del(console->writable);
	while (!console->failure && console->written < console->length)
		console->failure = write_piece(console);
	forget_text(console);
	return console->failure;
}

int console__failure(const struct console *console, const char *name, struct error *err)
{
	/* A reader that has gone has seen enough. */
	if (!console->failure || console->failure == -EPIPE)
		return 0;
	return error__set(err, console->failure, "cannot write %s: %s", name,
			  strerror(-console->failure));
}
