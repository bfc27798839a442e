// SPDX-License-Identifier: BSD-2-Clause
// Files with numbers, see numbered_files.h.
#include "cli/files/numbered_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privilege/file_rights.h"

struct numbered_file {
	char *path;
	unsigned int number;
	int fd;
	bool is_created;
	bool is_empty; /* at the start */
	struct timespec written;
};

struct numbered_files {
	unsigned int count, next;
	struct numbered_file files[];
};

/* Never follows a link that somebody put in the way. */
static int open_file(struct numbered_file *file)
{
	const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
	struct stat status;

	file->fd = open(file->path, flags);
	if (file->fd < 0 && errno == ENOENT) {
		file->fd = open(file->path, flags | O_CREAT | O_EXCL, 0666);
		file->is_created = file->fd >= 0;
	}
	if (file->fd < 0 || fstat(file->fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	file->is_empty = !status.st_size;
	file->written = status.st_mtim;
	return 0;
}

static int open_all(struct numbered_files *files, const char *name, unsigned int count,
		    struct error *err)
{
	while (files->count < count) {
		struct numbered_file *file = &files->files[files->count];
		int ret;

		file->fd = -1;
		file->number = files->count + 1;
		if (asprintf(&file->path, "%s.%u", name, file->number) < 0) {
			file->path = NULL;
			return error__set(err, -ENOMEM, "out of memory");
		}
		files->count++;
		ret = open_file(file);
		if (ret)
			return error__set(err, ret, "cannot write %s: %s", file->path,
					  ret == -EINVAL ? "it is no regular file" :
							   strerror(-ret));
	}
	return 0;
}

/* Empty ones come first, then the oldest. */
static int by_age(const void *a, const void *b)
{
	const struct numbered_file *x = a, *y = b;

	if (x->is_empty != y->is_empty)
		return x->is_empty ? -1 : 1;
	if (!x->is_empty && x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
	if (!x->is_empty && x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec < y->written.tv_nsec ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

int numbered_files__new(const char *name, unsigned int count, struct numbered_files **out,
			struct error *err)
{
	struct numbered_files *files =
		calloc(1, sizeof(*files) + count * sizeof(struct numbered_file));
	struct file_rights rights;
	int ret;

	if (!files)
		return error__set(err, -ENOMEM, "out of memory");
	ret = file_rights__take_invokers(&rights);
	if (ret) {
		free(files);
		return error__set(err, ret, "cannot write %s: %s", name, strerror(-ret));
	}
	ret = open_all(files, name, count, err);
	file_rights__give_back(&rights);
	if (ret) {
		numbered_files__free(files);
		return ret;
	}
	qsort(files->files, files->count, sizeof(files->files[0]), by_age);
	*out = files;
	return 0;
}

static void remove_empty(const struct numbered_files *files)
{
	struct file_rights rights;
	struct stat status;

	if (file_rights__take_invokers(&rights))
		return;
	for (unsigned int i = 0; i < files->count; i++) {
		const struct numbered_file *file = &files->files[i];

		if (file->is_created && file->path && !fstat(file->fd, &status) && !status.st_size)
			unlink(file->path);
	}
	file_rights__give_back(&rights);
}

void numbered_files__free(struct numbered_files *files)
{
	if (!files)
		return;
	remove_empty(files);
	for (unsigned int i = 0; i < files->count; i++) {
		if (files->files[i].fd >= 0)
			close(files->files[i].fd);
		free(files->files[i].path);
	}
	free(files);
}

int numbered_files__next(struct numbered_files *files, const char **path)
{
	const struct numbered_file *file = &files->files[files->next];
	int fd;

	files->next = (files->next + 1) % files->count;
	*path = file->path;
	if (ftruncate(file->fd, 0) || lseek(file->fd, 0, SEEK_SET) < 0)
		return -errno;
	fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}
