// SPDX-License-Identifier: BSD-2-Clause
// A file that is replaced atomically, see atomic_file.h.
#include "cli/files/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files/placer.h"
#include "privilege/file_rights.h"

#define NAMES_TRIED 100

struct atomic_file {
	const char *path; /* NULL: standard output */
	/* directory of the file to replace, after resolving links; -1: nothing to replace */
	int directory;
	char *name;	 /* name in that directory */
	char *temporary; /* name of the temporary file in it; NULL once it was renamed */
	struct placer placer;
	int fd;
};

/* The mode that open(2) gives a new file, or the mode of the file to replace. */
static mode_t mode_of(const struct atomic_file *file)
{
	struct stat status;
	mode_t mask;

	if (!fstatat(file->directory, file->name, &status, 0))
		return status.st_mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/*
 * Whether the caller is root: root can write anywhere when the file is opened, but no longer when
 * it is put in its place.
 */
static bool is_roots(void)
{
	return !getuid() && !geteuid();
}

/* Without the placer, the finished output could not be put in its place. */
static int start_placer(struct atomic_file *file)
{
	const struct placement placement = {
		.directory = file->directory, .temporary = file->temporary, .name = file->name};
	struct stat status;

	if (!is_roots())
		return 0;
	if (fstat(file->directory, &status))
		return -errno;
	if (status.st_uid)
		return placer__start(&placement, status.st_uid, &file->placer);
	return (status.st_mode & S_IWUSR) ? 0 : -EACCES;
}

/*
 * The kernel's rules for links in world-writable directories (fs.protected_symlinks) apply to
 * open(2), not to realpath(3).
 */
static int try_path(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -1 : close(fd);
}

/* Pins the directory: renaming it or replacing it by a link has no effect from here on. */
static int open_directory(struct atomic_file *file)
{
	char *target = realpath(file->path, NULL), *copy;
	int ret = target ? 0 : -errno;

	if (ret == -ENOENT)
		target = strdup(file->path);
	if (!target)
		return ret && ret != -ENOENT ? ret : -ENOMEM;
	ret = 0;
	copy = strdup(target);
	file->name = strdup(basename(target));
	if (!copy || !file->name)
		ret = -ENOMEM;
	if (!ret)
		file->directory = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!ret && file->directory < 0)
		ret = -errno;
	free(copy);
	free(target);
	return ret;
}

/* Creates a file with an unused, unpredictable name. */
static int make_temporary(struct atomic_file *file)
{
	int ret = -EEXIST;

	for (int i = 0; i < NAMES_TRIED && ret == -EEXIST; i++) {
		uint64_t number;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -errno;
		if (asprintf(&file->temporary, "%s.%06x", file->name,
			     (unsigned int)(number & 0xffffff)) < 0) {
			file->temporary = NULL;
			return -ENOMEM;
		}
		file->fd = openat(file->directory, file->temporary,
				  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (file->fd >= 0)
			return fchmod(file->fd, mode_of(file)) ? -errno : 0;
		ret = -errno;
		free(file->temporary);
		file->temporary = NULL;
	}
	return ret;
}

static int open_beside(struct atomic_file *file, struct error *err)
{
	int ret = open_directory(file);

	if (!ret && !faccessat(file->directory, file->name, F_OK, 0) &&
	    (faccessat(file->directory, file->name, W_OK, 0) || try_path(file->path)))
		ret = -errno;
	if (!ret)
		ret = make_temporary(file);
	if (!ret)
		ret = start_placer(file);
	return ret ? error__set(err, ret, "cannot write %s: %s", file->path, strerror(-ret)) : 0;
}

static int open_file(struct atomic_file *file, struct error *err)
{
	struct stat status;

	if (!file->path) {
		file->fd = STDOUT_FILENO;
		return 0;
	}
	if (stat(file->path, &status) || S_ISREG(status.st_mode))
		return open_beside(file, err);
	file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return file->fd < 0 ?
		       error__set(err, -errno, "cannot write %s: %s", file->path, strerror(errno)) :
		       0;
}

static int open_as_invoker(struct atomic_file *file, struct error *err)
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (ret)
		return error__set(err, ret, "cannot write %s: %s", file->path, strerror(-ret));
	ret = open_file(file, err);
	file_rights__give_back(&rights);
	return ret;
}

int atomic_file__new(const char *path, struct atomic_file **out, struct error *err)
{
	struct atomic_file *file = calloc(1, sizeof(*file));
	int ret;

	if (!file)
		return error__set(err, -ENOMEM, "out of memory");
	file->path = path;
	file->directory = -1;
	file->fd = -1;
	ret = open_as_invoker(file, err);
	if (ret) {
		atomic_file__free(file);
		return ret;
	}
	*out = file;
	return 0;
}

static int take_away(const struct atomic_file *file)
{
	return unlinkat(file->directory, file->temporary, 0) ? -errno : 0;
}

static int replace(const struct atomic_file *file)
{
	return renameat(file->directory, file->temporary, file->directory, file->name) ? -errno : 0;
}

static int change_as_invoker(const struct atomic_file *file,
			     int (*change)(const struct atomic_file *file))
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (ret)
		return ret;
	ret = change(file);
	file_rights__give_back(&rights);
	return ret;
}

void atomic_file__free(struct atomic_file *file)
{
	if (!file)
		return;
	if (file->path && file->fd >= 0) {
		close(file->fd);
		if (file->temporary && !file->placer.pid)
			change_as_invoker(file, take_away);
	}
	placer__end(&file->placer);
	if (file->directory >= 0)
		close(file->directory);
	free(file->temporary);
	free(file->name);
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

static int put_in_place(struct atomic_file *file)
{
	int ret = 0;

	if (file->placer.pid)
		ret = placer__place(&file->placer);
	else if (file->temporary)
		ret = change_as_invoker(file, replace);
	if (ret)
		return ret;
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

int atomic_file__write(struct atomic_file *file, const char *text, size_t length, struct error *err)
{
	int ret = write_all(file->fd, text, length);

	if (!ret)
		ret = put_in_place(file);
	if (!ret || (ret == -EPIPE && !file->path))
		return 0;
	return error__set(err, ret, "cannot write %s: %s",
			  file->path ? file->path : "standard output", strerror(-ret));
}
