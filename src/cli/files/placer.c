// SPDX-License-Identifier: BSD-2-Clause
// Renames a file into another user's directory, see placer.h.
#include "cli/files/placer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege/capabilities.h"
#include "privilege/sandbox.h"

/* --- the process --- */

enum {
	SOCKET,
	DIRECTORY,
	OTHERS
}; /* descriptors; gpuprobe never has others at the standard numbers (cli/main.c) */

/* The process must not keep anyone's output open. */
static int keep_open(int socket, int directory)
{
	if (dup2(socket, SOCKET) != SOCKET || dup2(directory, DIRECTORY) != DIRECTORY)
		return -errno;
	return close_range(OTHERS, ~0u, 0) ? -errno : 0;
}

static int become_owner(uid_t owner)
{
	const struct sandbox_options nothing_more = {0};
	int ret;

	setfsuid(owner);
	if ((uid_t)setfsuid((uid_t)-1) != owner)
		return -EPERM;
	ret = capabilities__give_up_all();
	return ret ? ret : sandbox__enter(&nothing_more, NULL);
}

static int report(int ret)
{
	return write(SOCKET, &ret, sizeof(ret)) == sizeof(ret) ? ret : -EPIPE;
}

/* Renames the file, or removes it if that fails. */
static int place(const struct placement *placement)
{
	int ret;

	if (!renameat(DIRECTORY, placement->temporary, DIRECTORY, placement->name))
		return 0;
	ret = -errno;
	unlinkat(DIRECTORY, placement->temporary, 0);
	return ret;
}

static void __attribute__((noreturn))
run(const struct placement *placement, uid_t owner, int socket)
{
	int ret = keep_open(socket, placement->directory);
	char byte;

	if (ret)
		_exit(1);
	setsid(); /* out of reach of the terminal's Ctrl-C */
	prctl(PR_SET_NAME, "gpuprobe-placer");
	ret = become_owner(owner);
	if (!ret && faccessat(DIRECTORY, ".", W_OK | X_OK, AT_EACCESS))
		ret = -errno;
	if (report(ret))
		_exit(1);
	if (read(SOCKET, &byte, 1) == 1)
		ret = report(place(placement));
	else
		unlinkat(DIRECTORY, placement->temporary, 0);
	_exit(ret ? 1 : 0);
}

/* --- in gpuprobe --- */

/* A process that sends nothing was killed. */
static int receive(int socket)
{
	ssize_t length;
	int answer;

	do
		length = read(socket, &answer, sizeof(answer));
	while (length < 0 && errno == EINTR);
	return length == sizeof(answer) ? answer : -ESRCH;
}

static void finish(struct placer *placer)
{
	close(placer->socket);
	while (waitpid(placer->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*placer = (struct placer){0};
}

int placer__start(const struct placement *placement, uid_t owner, struct placer *placer)
{
	int ends[2], ret;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid)
		run(placement, owner, ends[1]);
	ret = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (ret) {
		close(ends[0]);
		return ret;
	}
	*placer = (struct placer){.pid = pid, .socket = ends[0]};
	ret = receive(placer->socket);
	if (ret)
		finish(placer);
	return ret;
}

int placer__place(struct placer *placer)
{
	int ret = send(placer->socket, "", 1, MSG_NOSIGNAL) == 1 ? receive(placer->socket) : -ESRCH;

	finish(placer);
	return ret;
}

void placer__end(struct placer *placer)
{
	if (placer->pid)
		finish(placer);
}
