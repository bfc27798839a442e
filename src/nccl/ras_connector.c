// SPDX-License-Identifier: BSD-2-Clause
// Connects in other network namespaces, see ras_connector.h. The forked process handles a request
// at a time and reads nothing from the sockets that it connects.
#include "nccl/ras_connector.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/server_process.h"
#include "base/socket_message.h"

#define CONNECT_MS 1000
#define ANSWER_MS 5000 /* the machine may be busy */

struct request {
	pid_t pid;
	bool connects; /* else it only says whether the address is local */
	union ras_address address;
};

struct ras_connector {
	pid_t child;
	int socket;
};

/* --- the forked process --- */

/* It needs no more to enter network namespaces. */
static void keep_capabilities(void)
{
	static const cap_value_t kept[] = {CAP_SYS_ADMIN, CAP_SYS_PTRACE};
	cap_t before = cap_get_proc(), after = cap_init();

	for (size_t i = 0; before && after && i < sizeof(kept) / sizeof(kept[0]); i++) {
		cap_flag_value_t has = CAP_CLEAR;

		cap_get_flag(before, kept[i], CAP_PERMITTED, &has);
		cap_set_flag(after, CAP_PERMITTED, 1, &kept[i], has);
		cap_set_flag(after, CAP_EFFECTIVE, 1, &kept[i], has);
	}
	if (!before || !after || cap_set_proc(after))
		_exit(1);
	cap_free(before);
	cap_free(after);
}

/* Enters the namespace of a process if it is not the own one. 0 or a negative errno. */
static int enter(pid_t pid, int own)
{
	struct stat mine, its;
	char path[64];
	int fd, ret = 0;
	bool known;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	known = !fstat(fd, &its) && !fstat(own, &mine);
	if (!known ||
	    ((its.st_ino != mine.st_ino || its.st_dev != mine.st_dev) && setns(fd, CLONE_NEWNET)))
		ret = -errno;
	close(fd);
	return ret;
}

/* A socket that is bound to the address, which must be local, with any port. */
static int bind_local(const union ras_address *address)
{
	union ras_address any_port = *address;
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret;

	if (fd < 0)
		return -errno;
	any_port.v4.sin_port = 0; /* of IPv6 at the same place */
	if (!bind(fd, &any_port.any, ras_address__size(&any_port)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static int connect_bound(int fd, const union ras_address *address)
{
	struct pollfd entry = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int failure = 0, ready;

	if (!connect(fd, &address->any, ras_address__size(address)))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	ready = poll(&entry, 1, CONNECT_MS);
	if (ready <= 0)
		return ready ? -errno : -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size))
		return -errno;
	return -failure;
}

/* A socket or a negative errno. */
static int serve(const struct request *request, int own)
{
	int ret = enter(request->pid, own), fd;

	fd = ret ? ret : bind_local(&request->address);
	if (fd >= 0 && request->connects) {
		ret = connect_bound(fd, &request->address);
		if (ret) {
			close(fd);
			fd = ret;
		}
	}
	/* Sockets stay in the namespace in which they were made. */
	if (setns(own, CLONE_NEWNET) && errno != EPERM)
		_exit(1);
	return fd;
}

static void run_child(int socket)
{
	struct request request;
	bool goes_on = true;
	int own;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	keep_capabilities();
	own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	while (own >= 0 && goes_on &&
	       recv(socket, &request, sizeof(request), 0) == sizeof(request)) {
		int fd = serve(&request, own);
		int result = fd < 0 ? fd : 0;

		goes_on = !socket_message__send(socket, &result, sizeof(result), fd);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* --- gpuprobe --- */

int ras_connector__new(struct ras_connector **out, struct error *err)
{
	struct ras_connector *connector = calloc(1, sizeof(*connector));
	int ret;

	if (!connector)
		return error__set(err, -ENOMEM, "out of memory");
	ret = server_process__start("gpuprobe-ras", run_child, &connector->child,
				    &connector->socket);
	if (ret) {
		free(connector);
		return error__set(err, ret, "cannot start the process that connects: %s",
				  strerror(-ret));
	}
	*out = connector;
	return 0;
}

void ras_connector__free(struct ras_connector *connector)
{
	if (!connector)
		return;
	close(connector->socket);
	kill(connector->child, SIGKILL);
	while (waitpid(connector->child, NULL, 0) < 0 && errno == EINTR)
		;
	free(connector);
}

/* The socket of an answer, or its errno. */
static int receive_answer(int socket, int flags)
{
	int result, fd;
	int ret = socket_message__receive(socket, &result, sizeof(result), &fd, flags);

	if (ret)
		return ret == -EAGAIN ? ret : -EPIPE;
	if (result < 0)
		return result;
	return fd < 0 ? -EPIPE : fd;
}

static int send_request(struct ras_connector *connector, const struct request *request)
{
	return socket_message__send(connector->socket, request, sizeof(*request), -1) ? -EPIPE : 0;
}

static struct request request_for(pid_t pid, const union ras_address *address, bool connects)
{
	struct request request;

	/* All its bytes are sent. */
	memset(&request, 0, sizeof(request));
	request.pid = pid;
	request.connects = connects;
	request.address = *address;
	return request;
}

int ras_connector__begin(struct ras_connector *connector, pid_t pid,
			 const union ras_address *address)
{
	struct request request = request_for(pid, address, true);

	return send_request(connector, &request);
}

int ras_connector__fd(const struct ras_connector *connector)
{
	return connector->socket;
}

int ras_connector__take(struct ras_connector *connector)
{
	return receive_answer(connector->socket, MSG_DONTWAIT);
}

void ras_connector__give_up(struct ras_connector *connector)
{
	shutdown(connector->socket, SHUT_RDWR);
}

bool ras_connector__is_local(struct ras_connector *connector, pid_t pid,
			     const union ras_address *address)
{
	struct request request = request_for(pid, address, false);
	struct pollfd entry = {.fd = connector->socket, .events = POLLIN};
	int fd;

	if (send_request(connector, &request))
		return false;
	if (poll(&entry, 1, ANSWER_MS) <= 0) {
		ras_connector__give_up(connector);
		return false;
	}
	fd = receive_answer(connector->socket, 0);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}
