// SPDX-License-Identifier: BSD-2-Clause
// The process that plays Kineto's daemon; see server.h.
#include "kineto/server.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "kineto/serving.h"
#include "privilege/capabilities.h"
#include "privilege/sandbox.h"

#define TURN_MS 100 /* between looks at the files */

/* --- messages --- */

size_t kineto_message__size(uint32_t kind)
{
	size_t head = offsetof(struct kineto_message, reason);

	switch (kind) {
	case KINETO_READY:
	case KINETO_ALIVE:
	case KINETO_END: return head;
	case KINETO_REFUSED:
	case KINETO_ASKED:
	case KINETO_FAILED: return head + sizeof(struct kineto_reason);
	case KINETO_WORK: return head + sizeof(struct gpu_times_work);
	case KINETO_NAME: return head + sizeof(struct gpu_times_name);
	case KINETO_FINISHED: return head + sizeof(struct kineto_trace);
	default: return 0;
	}
}

void kineto_server__send(struct kineto_server *server, struct kineto_message *message)
{
	ssize_t n;

	do {
		n = send(server->socket, message, kineto_message__size(message->kind),
			 MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		_exit(0);
	server->sent_ns = clock__boot_ns();
}

static void send_kind(struct kineto_server *server, enum kineto_message_kind kind)
{
	struct kineto_message message = {.kind = kind};

	kineto_server__send(server, &message);
}

void kineto_server__fail(struct kineto_server *server, struct kineto_served *served,
			 const char *format, ...)
{
	struct kineto_message message = {.kind = KINETO_FAILED,
					 .process = (uint32_t)(served - server->served)};
	va_list args;

	va_start(args, format);
	vsnprintf(message.reason.text, sizeof(message.reason.text), format, args);
	va_end(args);
	served->progress = KINETO_OVER;
	kineto_server__send(server, &message);
}

void kineto_server__breathe(struct kineto_server *server)
{
	struct pollfd parent = {.fd = server->socket};

	if (poll(&parent, 1, 0) > 0 && parent.revents & (POLLHUP | POLLERR))
		_exit(0);
	if (clock__boot_ns() - server->sent_ns > KINETO_ALIVE_S * NS_PER_S)
		send_kind(server, KINETO_ALIVE);
}

size_t kineto_server__count(const struct kineto_server *server, enum kineto_progress progress)
{
	size_t count = 0;

	for (size_t i = 0; i < server->count; i++)
		count += server->served[i].progress == progress;
	return count;
}

/* --- setting up, with gpuprobe's privileges --- */

/* A setuid gpuprobe lets its caller watch other users' processes, but not change what they do. */
static int check_caller(const struct kineto_target *target, struct error *err)
{
	if (!getuid() || getuid() == target->uid)
		return 0;
	return error__set(err, -EPERM,
			  "process %d belongs to another user: only that user and root may ask its "
			  "profiler",
			  (int)target->pid);
}

static int open_targets(struct kineto_server *server, const struct kineto_request *request,
			struct error *err)
{
	for (size_t i = 0; i < request->count; i++) {
		struct kineto_target *target = &server->served[i].target;
		int ret = kineto_target__open(target, request->pids[i], err);

		if (!ret)
			ret = check_caller(target, err);
		if (!ret && (target->uid != server->served[0].target.uid ||
			     target->gid != server->served[0].target.gid))
			ret = error__set(err, -ENOTSUP,
					 "processes %d and %d belong to different users or groups: "
					 "ask them one after the other",
					 (int)request->pids[0], (int)request->pids[i]);
		if (!ret)
			ret = kineto_sockets__add(&server->sockets, request->pids[i], err);
		if (ret)
			return ret;
		server->count++;
	}
	return 0;
}

/* For good. The files of a trace belong to the target's user, who may read and delete them. */
static int become_user(const struct kineto_target *target, struct error *err)
{
	int ret = 0;

	if ((target->uid != geteuid() || target->gid != getegid()) &&
	    (setgroups(0, NULL) || setresgid(target->gid, target->gid, target->gid) ||
	     setresuid(target->uid, target->uid, target->uid)))
		return error__set(
			err, -errno,
			"process %d belongs to user %u: cannot read a trace as that user: "
			"%s; run gpuprobe as root, or as that user",
			(int)target->pid, (unsigned int)target->uid, strerror(errno));
	if (prctl(PR_SET_DUMPABLE, 0))
		ret = -errno;
	if (!ret)
		ret = capabilities__give_up_all();
	return ret ? error__set(err, ret, "cannot give up capabilities: %s", strerror(-ret)) : 0;
}

static int confine(const struct kineto_server *server, struct error *err)
{
	const struct sandbox_options options = {0};
	int ret = become_user(&server->served[0].target, err);

	return ret ? ret : sandbox__enter(&options, err);
}

static int choose_files(struct kineto_server *server, struct error *err)
{
	for (size_t i = 0; i < server->count; i++) {
		struct kineto_served *served = &server->served[i];
		const struct kineto_folder *folder = kineto_target__folder(&served->target, err);

		if (!folder)
			return -EACCES;
		if (kineto_file__name(&served->file, folder))
			return error__set(err, -EIO, "there are no random numbers");
	}
	return 0;
}

static int set_up(struct kineto_server *server, const struct kineto_request *request,
		  struct error *err)
{
	int ret = open_targets(server, request, err);

	if (!ret)
		ret = confine(server, err);
	return ret ? ret : choose_files(server, err);
}

static void refuse(struct kineto_server *server, int code, const struct error *err)
{
	struct kineto_message message = {.kind = KINETO_REFUSED, .reason.code = code};

	snprintf(message.reason.text, sizeof(message.reason.text), "%s", err->text);
	kineto_server__send(server, &message);
	_exit(0);
}

/* gpuprobe's files and pipes must not stay open as long as a process that hangs. */
static void close_others(int socket)
{
	if (socket > 0)
		close_range(0, (unsigned int)socket - 1, 0);
	close_range((unsigned int)socket + 1, ~0u, 0);
}

void kineto_server__run(const struct kineto_request *request, int socket)
{
	struct kineto_server *server = calloc(1, sizeof(*server));
	struct error err = {""};
	int ret;

	prctl(PR_SET_NAME, "gpuprobe-kineto");
	close_others(socket);
	if (!server)
		_exit(1);
	server->socket = socket;
	server->duration_ns = request->duration_ns;
	ret = set_up(server, request, &err);
	if (ret)
		refuse(server, ret, &err);
	send_kind(server, KINETO_READY);
	while (kineto_server__count(server, KINETO_OVER) < server->count) {
		kineto_server__take_questions(server, server->delivery ? 0 : TURN_MS);
		kineto_server__look_at_files(server);
		kineto_server__read_trace(server);
		kineto_server__breathe(server);
	}
	send_kind(server, KINETO_END);
	_exit(0);
}
