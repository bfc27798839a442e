// SPDX-License-Identifier: BSD-2-Clause
// Asks NCCL's RAS service, see ras_client.h.
#include "nccl/ras_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/clock.h"

#define LINE_MAX_SIZE 256
#define FIRST_ROOM 16384

struct conversation {
	int fd;
	uint64_t end_ns;
};

/* Waits for the socket. 0, -ETIMEDOUT or another negative errno. */
static int wait_for(const struct conversation *with, short events)
{
	uint64_t now = clock__boot_ns();
	struct pollfd entry = {.fd = with->fd, .events = events};
	int ret;

	if (now >= with->end_ns)
		return -ETIMEDOUT;
	ret = poll(&entry, 1, (int)((with->end_ns - now) / NS_PER_MS) + 1);
	if (ret < 0 && errno != EINTR)
		return -errno;
	return 0;
}

static bool is_not_ready(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int send_line(const struct conversation *with, const char *line)
{
	size_t left = strlen(line);

	while (left) {
		ssize_t sent = send(with->fd, line, left, MSG_NOSIGNAL | MSG_DONTWAIT);
		int ret;

		if (sent >= 0) {
			line += sent;
			left -= (size_t)sent;
			continue;
		}
		if (!is_not_ready())
			return -errno;
		ret = wait_for(with, POLLOUT);
		if (ret)
			return ret;
	}
	return 0;
}

/* Some bytes; 0 at the end; or a negative errno. */
static ssize_t receive(const struct conversation *with, char *buffer, size_t size)
{
	for (;;) {
		ssize_t got = recv(with->fd, buffer, size, MSG_DONTWAIT);
		int ret;

		if (got >= 0)
			return got;
		if (!is_not_ready())
			return -errno;
		ret = wait_for(with, POLLIN);
		if (ret)
			return ret;
	}
}

/* A line without its end. The service sends no more until it is asked. */
static int receive_line(const struct conversation *with, char line[LINE_MAX_SIZE])
{
	size_t length = 0;

	while (length < LINE_MAX_SIZE - 1) {
		ssize_t got = receive(with, line + length, 1);

		if (got < 0)
			return (int)got;
		if (!got)
			return -ECONNRESET;
		if (line[length] == '\n') {
			line[length] = '\0';
			return 0;
		}
		length++;
	}
	return -EPROTO;
}

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

/* Asks for JSON, and how long NCCL may wait for other nodes. */
static int negotiate(const struct conversation *with, uint64_t timeout_ns)
{
	char line[LINE_MAX_SIZE], timeout[64];
	int ret;

	snprintf(timeout, sizeof(timeout), "TIMEOUT %llu\n",
		 timeout_ns / NS_PER_S > 1 ? timeout_ns / NS_PER_S * 2 / 3 : 1ull);
	ret = send_line(with, "CLIENT PROTOCOL 2\n");
	if (!ret)
		ret = receive_line(with, line);
	if (!ret && strncasecmp(line, "SERVER PROTOCOL ", strlen("SERVER PROTOCOL ")))
		ret = -EPROTO;
	if (!ret)
		ret = send_line(with, timeout);
	if (!ret)
		ret = receive_line(with, line);
	if (!ret && strcasecmp(line, "OK"))
		ret = -EPROTO;
	if (!ret)
		ret = send_line(with, "SET FORMAT json\n");
	if (!ret)
		ret = receive_line(with, line);
	return !ret && strcasecmp(line, "OK") ? -EOPNOTSUPP : ret;
}

/* All up to the end of the connection. There is room for a byte behind it. */
static int receive_all(const struct conversation *with, char **text, size_t *length)
{
	size_t room = FIRST_ROOM;
	char *buffer = malloc(room + 1), *grown;
	ssize_t got = -ENOMEM;

	*length = 0;
	while (buffer) {
		got = receive(with, buffer + *length, room - *length);
		if (got <= 0)
			break;
		*length += (size_t)got;
		if (*length < room)
			continue;
		got = room < RAS_ANSWER_MAX ? -ENOMEM : -EFBIG;
		grown = room < RAS_ANSWER_MAX ? realloc(buffer, room * 2 + 1) : NULL;
		if (!grown)
			break;
		buffer = grown;
		room *= 2;
	}
	if (got < 0) {
		free(buffer);
		return (int)got;
	}
	*text = buffer;
	return 0;
}

int ras_client__ask(int fd, uint64_t timeout_ns, char **text, size_t *length, struct error *err)
{
	const struct conversation with = {fd, clock__boot_ns() + timeout_ns};
	int ret = negotiate(&with, timeout_ns);

	*text = NULL;
	if (!ret)
		ret = send_line(&with, "VERBOSE STATUS\n");
	if (!ret)
		ret = receive_all(&with, text, length);
	return ret ? explain(err, ret) : 0;
}
