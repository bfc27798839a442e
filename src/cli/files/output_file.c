// SPDX-License-Identifier: BSD-2-Clause
// The file of -O, see output_file.h.
#include "cli/files/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/session/signals.h"
#include "privilege/file_rights.h"

/* Returns a descriptor or a negative errno. */
static int open_as_invoker(const char *path)
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (ret)
		return ret;
	ret = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	if (ret < 0)
		ret = -errno;
	file_rights__give_back(&rights);
	return ret;
}

int output_file__open(const char *path, struct error *err)
{
	sigset_t stop, before;
	int fd;

	signals__fill_stop(&stop);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	fd = open_as_invoker(path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd < 0 ? error__set(err, fd, "cannot write %s: %s", path, strerror(-fd)) : fd;
}
