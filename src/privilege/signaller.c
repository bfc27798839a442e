// SPDX-License-Identifier: BSD-2-Clause
// Signals to processes of any user, see signaller.h.
#include "privilege/signaller.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/capability.h>
#include <unistd.h>

#include "privilege/capabilities.h"

int signaller__open(struct signaller *signaller)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	*signaller = (struct signaller){.reader = ends[0], .writer = ends[1]};
	return 0;
}

void signaller__close(struct signaller *signaller)
{
	if (signaller->reader >= 0)
		close(signaller->reader);
	if (signaller->writer >= 0)
		close(signaller->writer);
	*signaller = (struct signaller)SIGNALLER_NONE;
}

/* The pipe is empty before and after: only what becomes readable tells its owner. */
static int tell_owner(const struct signaller *signaller, pid_t pid, int number)
{
	struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = pid};
	char byte;
	int ret = 0;

	if (fcntl(signaller->reader, F_SETOWN_EX, &owner) || fcntl(signaller->reader, F_SETSIG, number) ||
	    fcntl(signaller->reader, F_SETFL, O_NONBLOCK | O_ASYNC) || write(signaller->writer, "", 1) != 1)
		ret = -errno;
	fcntl(signaller->reader, F_SETFL, O_NONBLOCK);
	if (!ret && read(signaller->reader, &byte, 1) != 1)
		ret = -errno;
	return ret;
}

int signaller__send(const struct signaller *signaller, pid_t pid, int number)
{
	if (!kill(pid, number))
		return 0;
	if (errno != EPERM || geteuid() || signaller->reader < 0)
		return -errno;
	return tell_owner(signaller, pid, number);
}

bool signaller__reaches_all(void)
{
	struct capabilities now;

	return !geteuid() || (!capabilities__read(&now, NULL) && now.effective & UINT64_C(1) << CAP_KILL);
}
