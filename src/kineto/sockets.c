// SPDX-License-Identifier: BSD-2-Clause
// The sockets that Kineto asks, see sockets.h.
#include "kineto/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/proc.h"

/*
 * Kineto waits for 90 ms. It would take a later answer for that to its next question, which may
 * come after gpuprobe has gone.
 */
#define WAITS_NS (60 * (int64_t)NS_PER_MS)

/* --- their names --- */

/* Opens the network namespace of the process, and finds out which it is. */
static int open_namespace(pid_t pid, struct kineto_socket *socket)
{
	struct stat status;
	char path[64];
	int fd, ret;

	proc__path(pid, "ns/net", path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	socket->device = status.st_dev;
	socket->inode = status.st_ino;
	return fd;
}

static bool is_same(const struct kineto_socket *a, const struct kineto_socket *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static bool is_served(const struct kineto_sockets *sockets, const struct kineto_socket *socket)
{
	for (size_t i = 0; i < sockets->count; i++)
		if (is_same(&sockets->list[i], socket))
			return true;
	return false;
}

/* Moves the thread there, unless it is there. */
static int enter(int fd, const struct kineto_socket *wanted)
{
	struct kineto_socket own = {0};
	int here = open_namespace(getpid(), &own);

	if (here >= 0)
		close(here);
	if (here >= 0 && is_same(&own, wanted))
		return 0;
	return setns(fd, CLONE_NEWNET) ? -errno : 0;
}

/* Returns a descriptor or a negative errno. */
static int take_name(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int on = 1;
	int fd, ret;

	memcpy(address.sun_path + 1, KINETO_DAEMON_NAME, sizeof(KINETO_DAEMON_NAME));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Before it has a name, so that the kernel notes the sender of each datagram. */
	if (!setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) &&
	    !bind(fd, (const struct sockaddr *)&address,
		  offsetof(struct sockaddr_un, sun_path) + 1 + sizeof(KINETO_DAEMON_NAME)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static int explain(int code, pid_t pid, struct error *err)
{
	if (code == -EADDRINUSE)
		return error__set(
			err, code,
			"process %d: another daemon (dynolog, or gpuprobe) takes requests "
			"for its profiler: use that (dyno gputrace --pids %d), or stop it",
			(int)pid, (int)pid);
	return error__set(err, code, "process %d: cannot wait for its profiler: %s", (int)pid,
			  strerror(-code));
}

static int serve_namespace(struct kineto_sockets *sockets, int namespace,
			   struct kineto_socket *socket, pid_t pid, struct error *err)
{
	int ret = enter(namespace, socket);

	if (ret == -EPERM)
		return error__set(
			err, ret,
			"process %d is in another network namespace, and gpuprobe may not "
			"enter it: run gpuprobe as root",
			(int)pid);
	if (!ret)
		ret = socket->fd = take_name();
	if (ret < 0)
		return explain(ret, pid, err);
	sockets->list[sockets->count++] = *socket;
	return 0;
}

int kineto_sockets__add(struct kineto_sockets *sockets, pid_t pid, struct error *err)
{
	struct kineto_socket socket = {0};
	int namespace = open_namespace(pid, &socket), ret = 0;

	if (namespace < 0)
		return error__set(err, namespace,
				  "process %d: cannot find its network namespace: %s", (int)pid,
				  strerror(-namespace));
	if (!is_served(sockets, &socket)) {
		if (sockets->count == KINETO_NAMESPACES)
			ret = error__set(err, -E2BIG,
					 "the processes are in more than %d network namespaces: "
					 "choose fewer",
					 KINETO_NAMESPACES);
		else
			ret = serve_namespace(sockets, namespace, &socket, pid, err);
	}
	close(namespace);
	return ret;
}

void kineto_sockets__close(struct kineto_sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++)
		close(sockets->list[i].fd);
	sockets->count = 0;
}

/* --- questions and answers --- */

static bool still_waits(const struct timespec *sent)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (now.tv_sec - sent->tv_sec) * (int64_t)NS_PER_S + now.tv_nsec - sent->tv_nsec;
	return ns < WAITS_NS;
}

/* What the kernel says of a datagram. Returns whether its sender still waits. */
static bool read_notes(struct msghdr *message, struct kineto_asker *asker)
{
	struct timespec sent;
	struct ucred sender;
	bool waits = true;

	for (struct cmsghdr *note = CMSG_FIRSTHDR(message); note;
	     note = CMSG_NXTHDR(message, note)) {
		if (note->cmsg_level != SOL_SOCKET)
			continue;
		if (note->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&sender, CMSG_DATA(note), sizeof(sender));
			asker->pid = sender.pid;
		} else if (note->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&sent, CMSG_DATA(note), sizeof(sent));
			waits = still_waits(&sent);
		}
	}
	return waits;
}

int kineto_sockets__receive(int fd, struct kineto_asker *asker)
{
	_Alignas(struct cmsghdr) char notes[256];
	char datagram[KINETO_DATAGRAM_MAX];
	struct iovec piece = {.iov_base = datagram, .iov_len = sizeof(datagram)};
	struct msghdr message = {
		.msg_name = &asker->address,
		.msg_namelen = sizeof(asker->address),
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = notes,
		.msg_controllen = sizeof(notes),
	};
	ssize_t n;

	*asker = (struct kineto_asker){0};
	n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EINTR ? -EBADMSG : -EAGAIN;
	asker->length = message.msg_namelen;
	if (!read_notes(&message, asker) || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return -EBADMSG;
	asker->question = kineto_protocol__read(datagram, (size_t)n, &asker->idle);
	return asker->question == KINETO_NO_QUESTION ? -EBADMSG : 0;
}

int kineto_sockets__answer(int fd, const struct kineto_asker *asker, const char *configuration)
{
	char datagram[KINETO_DATAGRAM_MAX];
	size_t size = kineto_protocol__answer(asker->question, configuration, datagram);
	ssize_t n = sendto(fd, datagram, size, MSG_DONTWAIT | MSG_NOSIGNAL,
			   (const struct sockaddr *)&asker->address, asker->length);

	return n < 0 ? -errno : 0;
}
