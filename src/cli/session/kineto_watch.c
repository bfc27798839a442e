// SPDX-License-Identifier: BSD-2-Clause
// Times from the traces of Kineto while the loop runs, see kineto_watch.h.
#include "cli/session/kineto_watch.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kineto/server.h"
#include "target/proc.h"

#define READY_S 10	 /* to look at the processes */
#define SILENCE_S 30	 /* more than any wait of a server that lives */
#define MESSAGES_MAX 256 /* taken at a time */
#define SETTLE_S 5
#define SETTLE_MS 50
#define END_MS 100

struct watched {
	pid_t pid;
	uint64_t start_ns;
	struct gpu_own_profile *profile; /* in `times`; NULL: there was no room */
	bool over;
};

struct kineto_watch {
	pid_t child; /* 0: there is none */
	int socket;
	struct event *readable; /* NULL: nothing comes any more, or not begun */
	const struct log *log;
	void (*done)(void *arg);
	void *arg;
	struct gpu_times times;
	struct watched watched[KINETO_PROCESSES];
	size_t count;
};

/* --- the server's process --- */

/* Signals of the terminal are for gpuprobe itself. */
static pid_t fork_deaf(const struct kineto_request *request, int socket)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid)
		kineto_server__run(request, socket);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int start(struct kineto_watch *watch, uint64_t duration_ns, struct error *err)
{
	pid_t pids[KINETO_PROCESSES], child;
	const struct kineto_request request = {
		.pids = pids, .count = watch->count, .duration_ns = duration_ns};
	int ends[2];

	for (size_t i = 0; i < watch->count; i++)
		pids[i] = watch->watched[i].pid;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error__set(err, -errno, "cannot make a socket: %s", strerror(errno));
	child = fork_deaf(&request, ends[1]);
	close(ends[1]);
	watch->socket = ends[0];
	if (child < 0)
		return error__set(err, -EAGAIN, "cannot start a process for --kineto");
	watch->child = child;
	return 0;
}

/* It may hang in the kernel, which is no reason to wait for it. */
static void end_child(struct kineto_watch *watch)
{
	const struct timespec step = {.tv_nsec = 1000000};

	if (!watch->child)
		return;
	kill(watch->child, SIGKILL);
	for (unsigned int i = 0; i < END_MS && !waitpid(watch->child, NULL, WNOHANG); i++)
		nanosleep(&step, NULL);
	watch->child = 0;
}

/* --- its messages --- */

/* Returns its size; 0: the server has ended, or sent nonsense; a negative errno. */
static ssize_t receive(struct kineto_watch *watch, struct kineto_message *message, int flags)
{
	size_t needed;
	ssize_t n;

	do {
		n = recv(watch->socket, message, sizeof(*message), flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n < sizeof(message->kind))
		return 0;
	needed = kineto_message__size(message->kind);
	return needed && (size_t)n == needed ? n : 0;
}

static void set_note(struct watched *watched, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_note(struct watched *watched, const char *format, ...)
{
	va_list args;

	if (!watched->profile)
		return;
	va_start(args, format);
	vsnprintf(watched->profile->note, sizeof(watched->profile->note), format, args);
	va_end(args);
}

static void fail(struct kineto_watch *watch, struct watched *watched, const char *why)
{
	watched->over = true;
	set_note(watched, "%s", why);
	log__warn(watch->log, "process %d: no GPU times: %s", (int)watched->pid, why);
}

/* Says of whom a record is: the server does not. */
static void set_head(struct gpu_times_head *head, const struct watched *watched,
		     enum gpu_times_function function)
{
	*head = (struct gpu_times_head){
		.function = function, .pid = watched->pid, .start_ns = watched->start_ns};
}

static void finish(struct watched *watched, struct kineto_trace *trace)
{
	trace->note[sizeof(trace->note) - 1] = '\0';
	watched->over = true;
	if (!watched->profile)
		return;
	watched->profile->complete = true;
	watched->profile->bytes = trace->bytes;
	watched->profile->overhead_ns = trace->overhead_ns;
	set_note(watched, "%s", trace->note);
}

static void take_of_process(struct kineto_watch *watch, struct watched *watched,
			    struct kineto_message *message)
{
	switch (message->kind) {
	case KINETO_ASKED:
		message->reason.text[sizeof(message->reason.text) - 1] = '\0';
		set_note(watched,
			 "its profiler has been asked, and has not finished; it may still write "
			 "%s: delete that",
			 message->reason.text);
		break;
	case KINETO_WORK:
		set_head(&message->work.head, watched, GPU_TIMES_WORK);
		gpu_times__take(&watch->times, &message->work, sizeof(message->work));
		break;
	case KINETO_NAME:
		set_head(&message->name.head, watched, GPU_TIMES_NAME);
		message->name.text[sizeof(message->name.text) - 1] = '\0';
		gpu_times__take(&watch->times, &message->name, sizeof(message->name));
		break;
	case KINETO_FINISHED: finish(watched, &message->trace); break;
	case KINETO_FAILED:
		message->reason.text[sizeof(message->reason.text) - 1] = '\0';
		fail(watch, watched, message->reason.text);
		break;
	default: break;
	}
}

/* Nothing more comes. */
static void end(struct kineto_watch *watch, const char *why)
{
	for (size_t i = 0; i < watch->count; i++)
		if (!watch->watched[i].over)
			fail(watch, &watch->watched[i], why);
	event_free(watch->readable);
	watch->readable = NULL;
	end_child(watch);
	watch->done(watch->arg);
}

/* Returns 0, -EAGAIN if there is none, or -EPIPE: that was the last one. */
static int take_message(struct kineto_watch *watch)
{
	struct kineto_message message;
	ssize_t n = receive(watch, &message, MSG_DONTWAIT);

	if (n == -EAGAIN)
		return -EAGAIN;
	if (n <= 0 || message.kind == KINETO_END)
		return -EPIPE;
	if (message.process < watch->count)
		take_of_process(watch, &watch->watched[message.process], &message);
	return 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static const char ended[] = "the process of gpuprobe that reads its trace ended",
			  hangs[] = "the process of gpuprobe that reads its trace does not answer";
	struct kineto_watch *watch = arg;

	(void)fd;
	/* After a long stop of gpuprobe itself there are messages, too. */
	if (what & EV_TIMEOUT && !(what & EV_READ)) {
		end(watch, hangs);
		return;
	}
	for (unsigned int i = 0; i < MESSAGES_MAX; i++) {
		int ret = take_message(watch);

		if (ret == -EAGAIN)
			return;
		if (ret) {
			end(watch, ended);
			return;
		}
	}
}

/* --- the end of the run --- */

static bool awaits_ended(const struct kineto_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		if (!watch->watched[i].over && !proc__exists(watch->watched[i].pid))
			return true;
	return false;
}

void kineto_watch__settle(struct kineto_watch *watch)
{
	uint64_t until_ns = clock__boot_ns() + SETTLE_S * NS_PER_S;
	struct pollfd server = {.fd = watch->socket, .events = POLLIN};
	int ret = watch->readable ? 0 : -EPIPE;

	while (!ret && awaits_ended(watch) && clock__boot_ns() < until_ns) {
		poll(&server, 1, SETTLE_MS);
		do {
			ret = take_message(watch);
		} while (!ret && clock__boot_ns() < until_ns);
		ret = ret == -EAGAIN ? 0 : ret;
	}
}

/* --- the watch --- */

static int wait_until_ready(struct kineto_watch *watch, struct error *err)
{
	const struct timeval limit = {.tv_sec = READY_S};
	struct kineto_message message;
	ssize_t n;

	setsockopt(watch->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	n = receive(watch, &message, 0);
	if (n == -EAGAIN)
		return error__set(err, -ETIME,
				  "cannot look at the processes of -p: reading their environment "
				  "or their folders took more than %d s",
				  READY_S);
	if (n > 0 && message.kind == KINETO_READY)
		return 0;
	if (n <= 0 || message.kind != KINETO_REFUSED)
		return error__set(err, -EIO, "--kineto: gpuprobe's process for it ended");
	message.reason.text[sizeof(message.reason.text) - 1] = '\0';
	return error__set(err, message.reason.code < 0 ? (int)message.reason.code : -EIO, "%s",
			  message.reason.text);
}

static int add_watched(struct kineto_watch *watch, pid_t pid, uint64_t duration_ns,
		       struct error *err)
{
	struct watched *watched = &watch->watched[watch->count];
	struct process_info info;

	if (proc__info(pid, &info))
		return error__set(err, -ESRCH, "there is no process %d", (int)pid);
	watched->pid = pid;
	watched->start_ns = info.start_ns;
	watched->profile = gpu_times__own_profile(&watch->times, pid, info.start_ns);
	if (!watched->profile)
		return error__set(err, -ENOMEM, "out of memory");
	watched->profile->asked_ns = duration_ns;
	set_note(watched, "its profiler has not asked for requests yet; it does so every 5 s");
	watch->count++;
	return 0;
}

static bool is_watched(const struct kineto_watch *watch, pid_t pid)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->watched[i].pid == pid)
			return true;
	return false;
}

static int add_all(struct kineto_watch *watch, const pid_t *pids, size_t count,
		   uint64_t duration_ns, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		if (is_watched(watch, pids[i]))
			continue;
		ret = watch->count == KINETO_PROCESSES ?
			      error__set(err, -E2BIG,
					 "--kineto asks at most %d processes at a time",
					 KINETO_PROCESSES) :
			      add_watched(watch, pids[i], duration_ns, err);
	}
	return ret;
}

int kineto_watch__new(const pid_t *pids, size_t count, uint64_t duration_ns, const struct log *log,
		      struct kineto_watch **out, struct error *err)
{
	struct kineto_watch *watch = calloc(1, sizeof(*watch));
	int ret;

	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	watch->socket = -1;
	watch->log = log;
	watch->times.own_profilers = true;
	ret = add_all(watch, pids, count, duration_ns, err);
	if (!ret)
		ret = start(watch, duration_ns, err);
	if (!ret)
		ret = wait_until_ready(watch, err);
	if (ret)
		kineto_watch__free(watch);
	else
		*out = watch;
	return ret;
}

int kineto_watch__begin(struct kineto_watch *watch, struct event_base *loop,
			void (*done)(void *arg), void *arg, struct error *err)
{
	const struct timeval silence = {.tv_sec = SILENCE_S};

	watch->done = done;
	watch->arg = arg;
	watch->readable = event_new(loop, watch->socket, EV_READ | EV_PERSIST, on_readable, watch);
	if (!watch->readable || event_add(watch->readable, &silence))
		return error__set(err, -ENOMEM, "out of memory");
	/* If it has ended, the loop notices. */
	send(watch->socket, "", 1, MSG_NOSIGNAL);
	return 0;
}

const struct gpu_times *kineto_watch__times(const struct kineto_watch *watch)
{
	return &watch->times;
}

void kineto_watch__free(struct kineto_watch *watch)
{
	if (!watch)
		return;
	if (watch->readable)
		event_free(watch->readable);
	if (watch->socket >= 0)
		close(watch->socket);
	end_child(watch);
	gpu_times__clear(&watch->times);
	free(watch);
}
