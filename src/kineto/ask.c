// SPDX-License-Identifier: BSD-2-Clause
// Hands requests for traces to the processes that ask; see serving.h.
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "kineto/serving.h"

#define QUESTIONS_MAX 64 /* of one socket at a time */
#define CONFIGURATION_SIZE (KINETO_PATH_SIZE + 256)

/* --- questions --- */

/* NULL: it is none of the processes, or one that has its request. */
static struct kineto_served *find_waiting(struct kineto_server *server, pid_t pid)
{
	for (size_t i = 0; i < server->count; i++)
		if (pid && server->served[i].target.pid == pid &&
		    server->served[i].progress == KINETO_WAITING)
			return &server->served[i];
	return NULL;
}

static void note_asked(struct kineto_server *server, struct kineto_served *served)
{
	struct kineto_message message = {.kind = KINETO_ASKED,
					 .process = (uint32_t)(served - server->served)};

	served->progress = KINETO_RECORDING;
	served->asked_ns = clock__boot_ns();
	snprintf(message.reason.text, sizeof(message.reason.text), "%s", served->file.path);
	kineto_server__send(server, &message);
}

/* An answer that cannot be sent was no answer: the process asks again. */
static void hand_over(struct kineto_server *server, int fd, const struct kineto_asker *asker,
		      struct kineto_served *served)
{
	char text[CONFIGURATION_SIZE];

	if (kineto_protocol__configure(served->file.path, server->duration_ns / NS_PER_MS, text,
				       sizeof(text)))
		return;
	if (!kineto_sockets__answer(fd, asker, text))
		note_asked(server, served);
}

static void answer(struct kineto_server *server, int fd, const struct kineto_asker *asker)
{
	struct kineto_served *served =
		asker->question == KINETO_REQUEST ? find_waiting(server, asker->pid) : NULL;

	if (served)
		served->was_busy = !asker->idle;
	if (served && asker->idle && server->until_ns)
		hand_over(server, fd, asker, served);
	else
		kineto_sockets__answer(fd, asker, "");
}

static void take_questions(struct kineto_server *server, int fd)
{
	struct kineto_asker asker;

	for (unsigned int i = 0; i < QUESTIONS_MAX; i++) {
		int ret = kineto_sockets__receive(fd, &asker);

		if (ret == -EAGAIN)
			return;
		if (!ret)
			answer(server, fd, &asker);
	}
}

/* --- waiting --- */

/* gpuprobe sends one byte when its probes are attached. Until then all answers are empty. */
static void begin(struct kineto_server *server)
{
	char byte;

	if (recv(server->socket, &byte, sizeof(byte), MSG_DONTWAIT) == sizeof(byte))
		server->until_ns = clock__boot_ns() + KINETO_ASK_S * NS_PER_S;
}

static void wait_for_questions(struct kineto_server *server, int wait_ms)
{
	struct pollfd fds[KINETO_NAMESPACES + 1];
	size_t count = server->sockets.count;

	for (size_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){.fd = server->sockets.list[i].fd, .events = POLLIN};
	fds[count] = (struct pollfd){.fd = server->socket, .events = POLLIN};
	if (poll(fds, count + 1, wait_ms) <= 0)
		return;
	if (fds[count].revents & POLLIN)
		begin(server);
	for (size_t i = 0; i < count; i++)
		if (fds[i].revents & POLLIN)
			take_questions(server, fds[i].fd);
}

static void drop_ended(struct kineto_server *server)
{
	for (size_t i = 0; i < server->count; i++) {
		struct kineto_served *served = &server->served[i];

		if (served->progress == KINETO_WAITING && kineto_target__has_ended(&served->target))
			kineto_server__fail(server, served,
					    "the process ended before its profiler could be asked");
	}
}

static void drop_silent(struct kineto_server *server)
{
	for (size_t i = 0; i < server->count; i++) {
		struct kineto_served *served = &server->served[i];

		if (served->progress != KINETO_WAITING)
			continue;
		if (served->was_busy)
			kineto_server__fail(server, served,
					    "its profiler was in use for all of %d s: try again "
					    "once that has ended",
					    KINETO_ASK_S);
		else
			kineto_server__fail(server, served,
					    "its profiler did not take requests within %d s: "
					    "perhaps the program has not imported PyTorch",
					    KINETO_ASK_S);
	}
}

void kineto_server__take_questions(struct kineto_server *server, int wait_ms)
{
	wait_for_questions(server, wait_ms);
	drop_ended(server);
	if (server->until_ns && clock__boot_ns() >= server->until_ns)
		drop_silent(server);
	if (!kineto_server__count(server, KINETO_WAITING))
		kineto_sockets__close(&server->sockets);
}
