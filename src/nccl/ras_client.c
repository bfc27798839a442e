// SPDX-License-Identifier: BSD-2-Clause
// Asks NCCL's RAS service, see ras_client.h.
#include "nccl/ras_client.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"

#define LINE_MAX_SIZE 255

/* What has been sent; the service answers each line before it gets the next one. */
enum step {
	STEP_PROTOCOL = 0,
	STEP_TIMEOUT,
	STEP_FORMAT,
	STEP_STATUS, /* everything up to the end of the connection is the answer */
};

struct ras_client {
	int fd;
	struct bufferevent *stream;
	struct event *timer;
	uint64_t timeout_ns;
	enum step step;
	bool is_done;
	ras_client_fn done;
	void *arg;
};

/* --- the end --- */

static int explain(struct error *err, int ret)
{
	const char *why = ret == -ETIMEDOUT  ? "no answer in time" :
			  ret == -ECONNRESET ? "it closed the connection" :
			  ret == -EPROTO     ? "it is no RAS service of NCCL" :
			  ret == -EOPNOTSUPP ?
					   "NCCL is older than 2.28.7 and answers only in text" :
			  ret == -EFBIG ? "its answer is too long" :
					  strerror(-ret);

	return error__set(err, ret, "RAS: %s", why);
}

static void finish(struct ras_client *client, int ret, char *text, size_t length)
{
	struct error err = {""};

	if (client->is_done)
		return;
	client->is_done = true;
	bufferevent_disable(client->stream, EV_READ | EV_WRITE);
	event_del(client->timer);
	if (ret)
		explain(&err, ret);
	client->done(client->arg, ret, text, length, &err);
}

/* There is room for a byte behind the text. */
static void finish_with_all(struct ras_client *client)
{
	struct evbuffer *input = bufferevent_get_input(client->stream);
	size_t length = evbuffer_get_length(input);
	char *text = malloc(length + 1);

	if (!text)
		finish(client, -ENOMEM, NULL, 0);
	else if (evbuffer_remove(input, text, length) == (int)length)
		finish(client, 0, text, length);
	else
		free(text);
}

/* --- lines --- */

static void send_line(struct ras_client *client, const char *line)
{
	if (bufferevent_write(client->stream, line, strlen(line)))
		finish(client, -ENOMEM, NULL, 0);
}

/* How long NCCL may wait for other nodes. */
static void send_timeout(struct ras_client *client)
{
	uint64_t seconds = client->timeout_ns / NS_PER_S;
	char line[64];

	snprintf(line, sizeof(line), "TIMEOUT %llu\n",
		 seconds > 1 ? (unsigned long long)seconds * 2 / 3 : 1ull);
	send_line(client, line);
}

static void take_line(struct ras_client *client, const char *line)
{
	static const char protocol[] = "SERVER PROTOCOL ";

	switch (client->step) {
	case STEP_PROTOCOL:
		if (strncasecmp(line, protocol, strlen(protocol)))
			finish(client, -EPROTO, NULL, 0);
		else
			send_timeout(client);
		break;
	case STEP_TIMEOUT:
		if (strcasecmp(line, "OK"))
			finish(client, -EPROTO, NULL, 0);
		else
			send_line(client, "SET FORMAT json\n");
		break;
	case STEP_FORMAT:
		if (strcasecmp(line, "OK"))
			finish(client, -EOPNOTSUPP, NULL, 0);
		else
			send_line(client, "VERBOSE STATUS\n");
		break;
	case STEP_STATUS: break;
	}
	client->step++;
}

static void on_read(struct bufferevent *stream, void *arg)
{
	struct ras_client *client = arg;
	struct evbuffer *input = bufferevent_get_input(stream);
	size_t length;
	char *line;

	while (!client->is_done && client->step < STEP_STATUS) {
		line = evbuffer_readln(input, &length, EVBUFFER_EOL_LF);
		if (line ? length > LINE_MAX_SIZE : evbuffer_get_length(input) > LINE_MAX_SIZE)
			finish(client, -EPROTO, NULL, 0);
		else if (line)
			take_line(client, line);
		free(line);
		if (!line)
			return;
	}
	if (!client->is_done && evbuffer_get_length(input) > RAS_ANSWER_MAX)
		finish(client, -EFBIG, NULL, 0);
}

static void on_event(struct bufferevent *stream, short what, void *arg)
{
	struct ras_client *client = arg;
	int failure = EVUTIL_SOCKET_ERROR();

	(void)stream;
	if (what & BEV_EVENT_ERROR)
		finish(client, failure ? -failure : -EIO, NULL, 0);
	else if (what & BEV_EVENT_EOF && client->step < STEP_STATUS)
		finish(client, -ECONNRESET, NULL, 0);
	else if (what & BEV_EVENT_EOF)
		finish_with_all(client);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	finish(arg, -ETIMEDOUT, NULL, 0);
}

/* --- making and freeing --- */

static int begin(struct ras_client *client)
{
	const struct timeval end = clock__timeval((double)client->timeout_ns / (double)NS_PER_S);

	bufferevent_setcb(client->stream, on_read, NULL, on_event, client);
	if (event_add(client->timer, &end) || bufferevent_enable(client->stream, EV_READ))
		return -ENOMEM;
	send_line(client, "CLIENT PROTOCOL 2\n");
	return 0;
}

struct ras_client *ras_client__new(struct event_base *loop, int fd, uint64_t timeout_ns,
				   ras_client_fn done, void *arg)
{
	struct ras_client *client = calloc(1, sizeof(*client));

	if (!client) {
		close(fd);
		return NULL;
	}
	client->fd = fd;
	client->timeout_ns = timeout_ns;
	client->done = done;
	client->arg = arg;
	client->timer = evtimer_new(loop, on_timeout, client);
	client->stream = bufferevent_socket_new(loop, fd, 0);
	if (client->stream && client->timer && !begin(client))
		return client;
	ras_client__free(client);
	return NULL;
}

void ras_client__free(struct ras_client *client)
{
	if (!client)
		return;
	if (client->timer)
		event_free(client->timer);
	if (client->stream)
		bufferevent_free(client->stream);
	/* Not by the stream: that goes only when the loop runs again. */
	close(client->fd);
	free(client);
}
