// SPDX-License-Identifier: BSD-2-Clause
// The file of -O, see output_file.h.
#include "cli/files/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/session/signals.h"
#include "privilege/file_rights.h"

int output_file__open(const char *path, struct error *err)
{
	sigset_t stop, before;
	int fd;

	signals__fill_stop(&stop);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	fd = file_rights__open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
			       0666);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd < 0 ? error__set(err, fd, "cannot write %s: %s", path, strerror(-fd)) : fd;
}
