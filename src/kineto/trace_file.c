// SPDX-License-Identifier: BSD-2-Clause
// The file of a trace, see trace_file.h.
#include "kineto/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED_SIZE (KINETO_NAME_SIZE + 4)

int kineto_file__name(struct kineto_file *file, const struct kineto_folder *folder)
{
	uint64_t number[2];

	if (getrandom(number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	file->folder = folder->fd;
	snprintf(file->name, sizeof(file->name), "gpuprobe-%016" PRIx64 "%016" PRIx64 ".trace",
		 number[0], number[1]);
	snprintf(file->path, sizeof(file->path), "%s/%s", folder->path, file->name);
	return 0;
}

static void unfinished(const struct kineto_file *file, char name[UNFINISHED_SIZE])
{
	snprintf(name, UNFINISHED_SIZE, "%s.tmp", file->name);
}

enum kineto_file_state kineto_file__look(const struct kineto_file *file, uint64_t *size)
{
	char name[UNFINISHED_SIZE];
	struct stat status;

	*size = 0;
	if (!fstatat(file->folder, file->name, &status, AT_SYMLINK_NOFOLLOW)) {
		*size = (uint64_t)status.st_size;
		return KINETO_FILE_COMPLETE;
	}
	unfinished(file, name);
	if (fstatat(file->folder, name, &status, AT_SYMLINK_NOFOLLOW))
		return KINETO_FILE_NONE;
	*size = (uint64_t)status.st_size;
	return KINETO_FILE_BEGUN;
}

int kineto_file__open(const struct kineto_file *file, uint64_t *size)
{
	int fd = openat(file->folder, file->name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
	    ret = 0;
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		ret = -errno;
	else if (!S_ISREG(status.st_mode))
		ret = -EINVAL;
	else if (status.st_uid != geteuid())
		ret = -EPERM;
	if (ret) {
		close(fd);
		return ret;
	}
	*size = (uint64_t)status.st_size;
	return fd;
}

static int remove_one(int folder, const char *name)
{
	return unlinkat(folder, name, 0) && errno != ENOENT ? -errno : 0;
}

int kineto_file__remove(const struct kineto_file *file)
{
	char name[UNFINISHED_SIZE];
	int ret, ret2;

	unfinished(file, name);
	ret = remove_one(file->folder, file->name);
	ret2 = remove_one(file->folder, name);
	return ret ? ret : ret2;
}
