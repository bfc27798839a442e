// SPDX-License-Identifier: BSD-2-Clause
// Signals to processes of any user; see sigio_kill.h.
#include "privilege/sigio_kill.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/capability.h>
#include <unistd.h>

#include "privilege/capabilities.h"

int sigio_kill__open(struct sigio_kill *sigio_kill)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	*sigio_kill = (struct sigio_kill){.reader = ends[0], .writer = ends[1]};
	return 0;
}

void sigio_kill__close(struct sigio_kill *sigio_kill)
{
	if (sigio_kill->reader >= 0)
		close(sigio_kill->reader);
	if (sigio_kill->writer >= 0)
		close(sigio_kill->writer);
	*sigio_kill = (struct sigio_kill)SIGNALLER_NONE;
}

/* The pipe is empty before and after: only the change to readable signals the owner. */
static int report_owner(const struct sigio_kill *sigio_kill, pid_t pid, int number)
{
	struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = pid};
	char byte;
	int ret = 0;

	if (fcntl(sigio_kill->reader, F_SETOWN_EX, &owner) ||
	    fcntl(sigio_kill->reader, F_SETSIG, number) ||
	    fcntl(sigio_kill->reader, F_SETFL, O_NONBLOCK | O_ASYNC) ||
	    write(sigio_kill->writer, "", 1) != 1)
		ret = -errno;
	fcntl(sigio_kill->reader, F_SETFL, O_NONBLOCK);
	if (!ret && read(sigio_kill->reader, &byte, 1) != 1)
		ret = -errno;
	return ret;
}

int sigio_kill__send(const struct sigio_kill *sigio_kill, pid_t pid, int number)
{
	if (!kill(pid, number))
		return 0;
	if (errno != EPERM || geteuid() || sigio_kill->reader < 0)
		return -errno;
	return report_owner(sigio_kill, pid, number);
}

bool sigio_kill__reaches_all(void)
{
	struct capabilities now;

	return !geteuid() ||
	       (!capabilities__read(&now, NULL) && now.effective & UINT64_C(1) << CAP_KILL);
}
