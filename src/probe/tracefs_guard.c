// SPDX-License-Identifier: BSD-2-Clause
// Cleans up after a gpuprobe that was killed, see tracefs_guard.h.
#include "probe/tracefs_guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whatever the kernel still has to do for what has ended: an event must not be removed while it is open. */
#define SETTLE_S 1

/* Readable when the last thread has ended, and what they had open is closed. */
static void wait_for_end(int pidfd)
{
	struct pollfd poller = {.fd = pidfd, .events = POLLIN};

	while (poll(&poller, 1, -1) < 0 && errno == EINTR)
		;
}

static void __attribute__((noreturn)) run(int pidfd, void (*clean)(void *arg), void *arg)
{
	setsid(); /* out of reach of the terminal's Ctrl-C */
	prctl(PR_SET_NAME, "gpuprobe-guard");
	/* Who reads gpuprobe's output must see its end, and so must who waits for it on a pipe. */
	if (pidfd > 0)
		close_range(0, (unsigned int)pidfd - 1, 0);
	close_range((unsigned int)pidfd + 1, ~0u, 0);
	wait_for_end(pidfd);
	sleep(SETTLE_S);
	clean(arg);
	_exit(0);
}

pid_t tracefs_guard__start(void (*clean)(void *arg), void *arg)
{
	int pidfd = pidfd_open(getpid(), 0);
	pid_t guard;

	if (pidfd < 0)
		return -errno;
	guard = fork();
	if (!guard)
		run(pidfd, clean, arg);
	if (guard < 0)
		guard = -errno;
	close(pidfd);
	return guard;
}

void tracefs_guard__end(pid_t guard)
{
	if (guard <= 0)
		return;
	kill(guard, SIGKILL);
	waitpid(guard, NULL, 0);
}
