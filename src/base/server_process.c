// SPDX-License-Identifier: BSD-2-Clause
// Forks a process that answers requests, see server_process.h.
#include "base/server_process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void close_others(int socket)
{
	if (socket > 0)
		close_range(0, (unsigned int)socket - 1, 0);
	close_range((unsigned int)socket + 1, ~0u, 0);
}

static void __attribute__((noreturn))
run_child(const char *name, void (*run)(int socket), int socket)
{
	prctl(PR_SET_NAME, name);
	close_others(socket);
	run(socket);
	_exit(0);
}

int server_process__start(const char *name, void (*run)(int socket), pid_t *pid, int *socket)
{
	sigset_t all, before;
	int ends[2], ret;
	pid_t forked;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	forked = fork();
	if (!forked)
		run_child(name, run, ends[1]);
	ret = forked < 0 ? -errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	if (ret) {
		close(ends[0]);
		return ret;
	}
	*pid = forked;
	*socket = ends[0];
	return 0;
}
