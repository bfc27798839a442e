// SPDX-License-Identifier: BSD-2-Clause
// Files of a process's file system; see root_file.h.
#include "target/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/mounts.h"
#include "target/process_root.h"

/* Files that are not regular are not opened at all: opening some devices has side effects. */
static int check(const struct statx *status)
{
	if (!S_ISREG(status->stx_mode))
		return -EINVAL;
	return status->stx_size > ROOT_FILE_MAX ? -EFBIG : 0;
}

const char *root_file__why(int code)
{
	switch (code) {
	case -EINVAL: return "not a regular file";
	case -EFBIG: return "more than 64 GiB, no library is that large";
	case -EREMOTE: return "on a FUSE file system, which may never answer";
	case -EOVERFLOW:
		return "perhaps on a FUSE file system: the list of mounts is longer than 16 MiB";
	case -ESTALE: return "its path now leads to another file";
	default: return strerror(-code);
	}
}

int regular_file__reopen(int fd, const struct statx *status)
{
	char path[32];
	int ret;

	if (fd < 0)
		return fd;
	ret = check(status);
	if (!ret) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ret = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (ret < 0)
			ret = -errno;
	}
	close(fd);
	return ret;
}

int root_file__open(pid_t pid, const char *path)
{
	struct process_root *root;
	struct statx status;
	int ret = process_root__open(pid, &root);

	if (ret)
		return ret;
	ret = regular_file__reopen(process_root__find(root, path, &status), &status);
	process_root__free(root);
	return ret;
}

int root_file__open_directory(pid_t pid, const char *path)
{
	struct process_root *root;
	struct statx status;
	int ret = process_root__open(pid, &root), fd;

	if (ret)
		return ret;
	fd = process_root__find(root, path, &status);
	process_root__free(root);
	if (fd < 0)
		return fd;
	ret = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int root_file__open_link(pid_t pid, const char *link)
{
	struct mounts mounts;
	struct statx status;
	int fd = open(link, O_PATH | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	mounts__init(&mounts, pid);
	ret = mounts__check(&mounts, fd, &status);
	mounts__clear(&mounts);
	if (!ret)
		return regular_file__reopen(fd, &status);
	close(fd);
	return ret;
}

int regular_file__open(const char *path)
{
	struct statx status;
	int fd = open(path, O_PATH | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MODE | STATX_SIZE, &status))
		return regular_file__reopen(fd, &status);
	ret = -errno;
	close(fd);
	return ret;
}
