// SPDX-License-Identifier: BSD-2-Clause
// The file of -O, see output_file.h.
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/stop_signals.h"

int output_file__open(const char *path, struct error *err)
{
	sigset_t stop, before;
	int fd, code;

	stop_signals__fill(&stop);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	code = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd < 0)
		return error__set(err, -code, "cannot write %s: %s", path, strerror(code));
	return fd;
}
