// SPDX-License-Identifier: BSD-2-Clause
// Takes what is written to standard error, see messages.h.
#include "cli/files/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_BYTES 65536 /* of all lines, for the end; the first ones are kept */
#define LINE_BYTES 1024

struct messages {
	int fds[2];   /* a pipe; standard error is its end for writing */
	int original; /* standard error as it was; -1: nothing is taken */
	struct event *event;
	void (*changed)(void *arg);
	void *arg;
	char kept[KEPT_BYTES];
	size_t kept_bytes, dropped_bytes;
	/* the line that is being read, and the latest whole one */
	char line[LINE_BYTES], latest[LINE_BYTES];
	size_t line_bytes;
	bool has_latest;
};

static void end_line(struct messages *messages)
{
	messages->line[messages->line_bytes] = '\0';
	messages->line_bytes = 0;
	if (!messages->line[0])
		return;
	memcpy(messages->latest, messages->line, LINE_BYTES);
	messages->has_latest = true;
}

static void take(struct messages *messages, const char *text, size_t bytes)
{
	size_t room = KEPT_BYTES - messages->kept_bytes, kept = bytes < room ? bytes : room;

	memcpy(messages->kept + messages->kept_bytes, text, kept);
	messages->kept_bytes += kept;
	messages->dropped_bytes += bytes - kept;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '\n')
			end_line(messages);
		else if (messages->line_bytes + 1 < LINE_BYTES)
			messages->line[messages->line_bytes++] = text[i];
	}
}

static void read_all(struct messages *messages)
{
	char text[4096];
	ssize_t bytes;

	while ((bytes = read(messages->fds[0], text, sizeof(text))) > 0)
		take(messages, text, (size_t)bytes);
}

static void on_text(evutil_socket_t fd, short what, void *arg)
{
	struct messages *messages = arg;

	(void)fd;
	(void)what;
	read_all(messages);
	messages->changed(messages->arg);
}

/* Writing never blocks: a full pipe loses messages, which are too many to be read anyway. */
static int redirect(struct messages *messages)
{
	if (pipe2(messages->fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	messages->original = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (messages->original < 0)
		return -errno;
	return dup2(messages->fds[1], STDERR_FILENO) < 0 ? -errno : 0;
}

int messages__new(struct event_base *loop, void (*changed)(void *arg), void *arg,
		  struct messages **out, struct error *err)
{
	struct messages *messages = calloc(1, sizeof(*messages));
	int ret;

	if (!messages)
		return error__set(err, -ENOMEM, "out of memory");
	messages->fds[0] = messages->fds[1] = messages->original = -1;
	messages->changed = changed;
	messages->arg = arg;
	*out = messages;
	if (!isatty(STDERR_FILENO))
		return 0;
	ret = redirect(messages);
	if (!ret) {
		messages->event =
			event_new(loop, messages->fds[0], EV_READ | EV_PERSIST, on_text, messages);
		ret = messages->event && !event_add(messages->event, NULL) ? 0 : -ENOMEM;
	}
	if (!ret)
		return 0;
	*out = NULL;
	messages__free(messages);
	return error__set(err, ret, "cannot take messages off the screen: %s", strerror(-ret));
}

const char *messages__latest(const struct messages *messages)
{
	return messages->has_latest ? messages->latest : NULL;
}

void messages__forget_latest(struct messages *messages)
{
	messages->has_latest = false;
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void messages__free(struct messages *messages)
{
	if (!messages)
		return;
	if (messages->event)
		event_free(messages->event);
	if (messages->original >= 0) {
		fflush(stderr);
		dup2(messages->original, STDERR_FILENO);
		read_all(messages);
		fwrite(messages->kept, 1, messages->kept_bytes, stderr);
		if (messages->dropped_bytes)
			fprintf(stderr, "gpuprobe: %zu more bytes of messages\n",
				messages->dropped_bytes);
	}
	close_one(messages->original);
	close_one(messages->fds[0]);
	close_one(messages->fds[1]);
	free(messages);
}
