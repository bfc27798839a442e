// SPDX-License-Identifier: BSD-2-Clause
// A file that is there whole or not at all, see whole_file.h.
#include "cli/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privilege/file_rights.h"

struct whole_file {
	const char *path; /* NULL: standard output */
	char *target;	  /* what is to be replaced: where links lead to; NULL: nothing is */
	char *temporary;  /* beside it; NULL once it is in its place */
	uid_t owner;	  /* of its directory, where root needs his rights; 0: not */
	int fd;
};

/* What a file has that open(2) makes, or the one that is replaced. */
static mode_t mode_of(const char *target)
{
	struct stat status;
	mode_t mask;

	if (!stat(target, &status))
		return status.st_mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/*
 * By the time the file is put in its place root may write only where everybody
 * may who owns as much (privilege/capabilities.h). So that it is not lost then,
 * the directory's owner becomes the saved user, whom setfsuid(2) may take up.
 * In a setuid file root has no more rights here than who called it.
 */
static void keep_owner(struct whole_file *file)
{
	char *copy = geteuid() || file_rights__are_others() ? NULL : strdup(file->target);
	struct stat directory;

	if (copy && !stat(dirname(copy), &directory) && directory.st_uid &&
	    !setresuid((uid_t)-1, (uid_t)-1, directory.st_uid))
		file->owner = directory.st_uid;
	free(copy);
}

/* The kernel's rules for links in directories of everybody (fs.protected_symlinks) are for open(2), not for realpath(3). */
static int try_path(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -1 : close(fd);
}

static int open_beside(struct whole_file *file, struct error *err)
{
	file->target = realpath(file->path, NULL);
	if (!file->target && errno == ENOENT)
		file->target = strdup(file->path);
	if (!file->target)
		return error__set(err, -errno, "cannot write %s: %s", file->path, strerror(errno));
	if (!access(file->target, F_OK) && (access(file->target, W_OK) || try_path(file->path)))
		return error__set(err, -errno, "cannot write %s: %s", file->path, strerror(errno));
	if (asprintf(&file->temporary, "%s.XXXXXX", file->target) < 0) {
		file->temporary = NULL;
		return error__set(err, -ENOMEM, "out of memory");
	}
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	keep_owner(file);
	if (file->fd >= 0 && !fchmod(file->fd, mode_of(file->target)))
		return 0;
	return error__set(err, -errno, "cannot write %s: %s", file->path, strerror(errno));
}

static int open_file(struct whole_file *file, struct error *err)
{
	struct stat status;

	if (!file->path) {
		file->fd = STDOUT_FILENO;
		return 0;
	}
	if (stat(file->path, &status) || S_ISREG(status.st_mode))
		return open_beside(file, err);
	file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return file->fd < 0 ? error__set(err, -errno, "cannot write %s: %s", file->path, strerror(errno)) : 0;
}

static int open_as_caller(struct whole_file *file, struct error *err)
{
	struct file_rights rights;
	int ret = file_rights__take_callers(&rights);

	if (ret)
		return error__set(err, ret, "cannot write %s: %s", file->path, strerror(-ret));
	ret = open_file(file, err);
	file_rights__give_back(&rights);
	return ret;
}

int whole_file__new(const char *path, struct whole_file **out, struct error *err)
{
	struct whole_file *file = calloc(1, sizeof(*file));
	int ret;

	if (!file)
		return error__set(err, -ENOMEM, "out of memory");
	file->path = path;
	file->fd = -1;
	ret = open_as_caller(file, err);
	if (ret) {
		whole_file__free(file);
		return ret;
	}
	*out = file;
	return 0;
}

static int take_away(const struct whole_file *file)
{
	return unlink(file->temporary) ? -errno : 0;
}

static int replace(const struct whole_file *file)
{
	return rename(file->temporary, file->target) ? -errno : 0;
}

static int change_as_caller(const struct whole_file *file, int (*change)(const struct whole_file *file))
{
	struct file_rights rights;
	int ret = file_rights__take_callers(&rights);

	if (ret)
		return ret;
	ret = change(file);
	file_rights__give_back(&rights);
	return ret;
}

static int change_directory(const struct whole_file *file, int (*change)(const struct whole_file *file))
{
	int ret = change_as_caller(file, change);

	if (ret != -EACCES || !file->owner)
		return ret;
	setfsuid(file->owner);
	ret = change(file);
	setfsuid(0);
	return ret;
}

void whole_file__free(struct whole_file *file)
{
	if (!file)
		return;
	if (file->path && file->fd >= 0) {
		close(file->fd);
		if (file->temporary)
			change_directory(file, take_away);
	}
	free(file->temporary);
	free(file->target);
	free(file);
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(fd, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		text += written;
		length -= (size_t)written;
	}
	return 0;
}

static int put_in_place(struct whole_file *file)
{
	int ret = file->temporary ? change_directory(file, replace) : 0;

	if (ret)
		return ret;
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

int whole_file__write(struct whole_file *file, const char *text, size_t length, struct error *err)
{
	int ret = write_all(file->fd, text, length);

	if (!ret)
		ret = put_in_place(file);
	if (!ret || (ret == -EPIPE && !file->path))
		return 0;
	return error__set(err, ret, "cannot write %s: %s", file->path ? file->path : "standard output", strerror(-ret));
}
