// SPDX-License-Identifier: BSD-2-Clause
// Keeps tracefs events open, and cleans up after a gpuprobe that was killed; see tracefs_guard.h.
#include "probe/tracefs_guard.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/socket_message.h"
#include "base/threads.h"

/*
 * Time for the kernel to finish releasing what the ended process had open: an event must not be
 * removed while it is open.
 */
#define SETTLE_S 1

struct request {
	int id; /* id of the event to open; -1: close those from `event` on */
	unsigned int event;
};

struct held {
	unsigned int event;
	int fd;
};

/* The events that the guard has open. */
struct holding {
	struct held *list; /* by event */
	size_t count;
	size_t next; /* next one to close; atomic */
};

static int open_event(int id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = (uint64_t)id,
		.sample_period = 1,
	};
	/* The BPF program runs on every CPU, whichever CPU the event is opened on. */
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* --- in the guard --- */

static int hold(struct holding *holding, unsigned int event, int id)
{
	int fd;

	if (ARRAY_RESERVE(holding->list, holding->count, 1))
		return -ENOMEM;
	fd = open_event(id);
	if (fd >= 0)
		holding->list[holding->count++] = (struct held){.event = event, .fd = fd};
	return fd;
}

static void close_some(void *arg)
{
	struct holding *holding = arg;
	size_t i;

	while ((i = __atomic_fetch_add(&holding->next, 1, __ATOMIC_RELAXED)) < holding->count)
		close(holding->list[i].fd);
}

/* Closes several in parallel, because each close waits for the kernel. */
static void close_from(struct holding *holding, unsigned int event)
{
	size_t first = holding->count, count;

	while (first && holding->list[first - 1].event >= event)
		first--;
	count = holding->count - first;
	holding->next = first;
	if (count)
		threads__run(close_some, holding,
			     count < THREADS_MAX ? (unsigned int)count : THREADS_MAX);
	holding->count = first;
}

/* Serves one request. Returns false if no more requests will come. */
static bool serve(struct holding *holding, int socket)
{
	struct request request;
	int result = 0;

	if (socket_message__receive(socket, &request, sizeof(request), NULL, 0))
		return false;
	if (request.id < 0)
		close_from(holding, request.event);
	else
		result = hold(holding, request.event, request.id);
	return !socket_message__send(socket, &result, sizeof(result), request.id < 0 ? -1 : result);
}

/* Serves until the last thread of gpuprobe has ended and everything that it had open is closed. */
static void serve_until_end(struct holding *holding, int pidfd, int socket)
{
	struct pollfd pollers[] = {{.fd = pidfd, .events = POLLIN},
				   {.fd = socket, .events = POLLIN}};

	for (;;) {
		if (poll(pollers, 2, -1) < 0)
			continue;
		if (pollers[0].revents)
			return;
		if (!pollers[1].revents || serve(holding, socket))
			continue;
		/* Close it, so that a requester whose answer could not be sent stops waiting. */
		close(socket);
		pollers[1].fd = -1;
	}
}

/*
 * Closes all other descriptors: readers of gpuprobe's output, and processes that wait for it on a
 * pipe, must see its end.
 */
static void keep_only(int a, int b)
{
	unsigned int low = (unsigned int)(a < b ? a : b), high = (unsigned int)(a < b ? b : a);

	if (low > 0)
		close_range(0, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

static void __attribute__((noreturn))
run(int pidfd, int socket, void (*clean)(void *arg), void *arg)
{
	struct holding holding = {0};

	setsid(); /* protects from the terminal's Ctrl-C */
	prctl(PR_SET_NAME, "gpuprobe-guard");
	keep_only(pidfd, socket);
	serve_until_end(&holding, pidfd, socket);
	close_from(&holding, 0);
	sleep(SETTLE_S);
	clean(arg);
	_exit(0);
}

/* --- in gpuprobe --- */

int tracefs_guard__start(void (*clean)(void *arg), void *arg, struct tracefs_guard *guard)
{
	int pidfd = pidfd_open(getpid(), 0), ends[2], ret = 0;
	pid_t pid;

	if (pidfd < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		ret = -errno;
		goto out;
	}
	pid = fork();
	if (!pid)
		run(pidfd, ends[1], clean, arg);
	if (pid < 0)
		ret = -errno;
	close(ends[1]);
	if (ret)
		close(ends[0]);
	else
		*guard = (struct tracefs_guard){.pid = pid, .socket = ends[0]};
out:
	close(pidfd);
	return ret;
}

/*
 * Sends a request and receives the answer. A guard that does not answer was killed; once it has
 * been waited for, it has nothing open.
 */
static int ask(struct tracefs_guard *guard, const struct request *request, int *result, int *fd)
{
	int ret = guard->pid ? socket_message__send(guard->socket, request, sizeof(*request), -1) :
			       -ESRCH;

	if (!ret)
		ret = socket_message__receive(guard->socket, result, sizeof(*result), fd, 0);
	if (ret)
		tracefs_guard__end(guard);
	return ret;
}

int tracefs_guard__open(struct tracefs_guard *guard, unsigned int event, int id)
{
	const struct request request = {.id = id, .event = event};
	int result, fd;

	if (ask(guard, &request, &result, &fd))
		return open_event(id);
	if (result < 0)
		return result;
	return fd < 0 ? -EMFILE : fd;
}

void tracefs_guard__close(struct tracefs_guard *guard, unsigned int first)
{
	const struct request request = {.id = -1, .event = first};
	int result;

	ask(guard, &request, &result, NULL);
}

void tracefs_guard__end(struct tracefs_guard *guard)
{
	if (!guard->pid)
		return;
	kill(guard->pid, SIGKILL);
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(guard->socket);
	guard->pid = 0;
}
