// SPDX-License-Identifier: BSD-2-Clause
// Files of a process's file system, see root_file.h.
#include "target/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Takes over `fd`, or passes on the error. */
static int check_regular(int fd)
{
	struct stat stat;

	if (fd >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode))
		return fd;
	if (fd < 0)
		return -errno;
	close(fd);
	return -EINVAL;
}

int regular_file__open(const char *path)
{
	return check_regular(open(path, FLAGS));
}

int root_file__open(pid_t pid, const char *path)
{
	struct open_how how = {.flags = FLAGS, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char name[64] = "/";
	int root, fd;

	if (pid)
		snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	fd = check_regular((int)syscall(SYS_openat2, root, path, &how, sizeof(how)));
	close(root);
	return fd;
}
