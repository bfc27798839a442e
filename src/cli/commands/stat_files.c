// SPDX-License-Identifier: BSD-2-Clause
// The directory of `gpuprobe stat --csv DIR`, see stat_files.h.
#include "cli/commands/stat_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_stream.h"
#include "cli/files/atomic_file.h"
#include "privilege/file_rights.h"

struct stat_files {
	char *paths[STAT_CSV_TABLES];
	struct atomic_file *files[STAT_CSV_TABLES];
};

static int make_directory(const char *path)
{
	struct stat status;

	if (!mkdir(path, 0777))
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &status))
		return -errno;
	return S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

static int make_directory_as_invoker(const char *path, struct error *err)
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (!ret) {
		ret = make_directory(path);
		file_rights__give_back(&rights);
	}
	return ret ? error__set(err, ret, "--csv: cannot make the directory %s: %s", path,
				strerror(-ret)) :
		     0;
}

/* The line with the names of the table's columns (malloc); NULL without memory. */
static char *names_of(size_t table, size_t *length)
{
	char *text = NULL;
	FILE *out = text_stream__open(&text, length);

	if (!out)
		return NULL;
	stat_csv__print_names(out, table);
	return fclose(out) ? NULL : text;
}

/*
 * Whether the file is empty or begins as the table does. Versions differ in columns at the end of
 * the line.
 */
static bool is_table(int fd, size_t table)
{
	size_t length = 0, same = 0;
	char *names = names_of(table, &length);
	char begin[1024] = "";
	struct stat status;
	ssize_t size = read(fd, begin, sizeof(begin));
	bool ours;

	if (!names || size < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		free(names);
		return false;
	}
	while (same < length && same < (size_t)size && begin[same] == names[same])
		same++;
	ours = !size || (same == length) ||
	       (same >= strlen("seconds,") && (names[same] == '\n' || begin[same] == '\n'));
	free(names);
	return ours;
}

static int check_existing(const char *path, size_t table, struct error *err)
{
	int fd = file_rights__open_to_read(path);
	bool ours;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return error__set(err, fd, "--csv: cannot read %s, which is to be replaced: %s",
				  path, strerror(-fd));
	ours = is_table(fd, table);
	close(fd);
	return ours ? 0 :
		      error__set(err, -EEXIST,
				 "--csv: %s is not a table of gpuprobe stat: remove it, or name "
				 "another directory",
				 path);
}

static int open_table(struct stat_files *files, const char *directory, size_t table,
		      struct error *err)
{
	char *path = NULL;
	int ret;

	if (asprintf(&path, "%s/%s.csv", directory, stat_csv__table(table)) < 0)
		return error__set(err, -ENOMEM, "out of memory");
	files->paths[table] = path;
	ret = check_existing(path, table, err);
	return ret ? ret : atomic_file__new(path, &files->files[table], err);
}

int stat_files__new(const char *directory, struct stat_files **out, struct error *err)
{
	struct stat_files *files = calloc(1, sizeof(*files));
	int ret;

	if (!files)
		return error__set(err, -ENOMEM, "out of memory");
	ret = make_directory_as_invoker(directory, err);
	for (size_t i = 0; i < STAT_CSV_TABLES && !ret; i++)
		ret = open_table(files, directory, i, err);
	if (ret) {
		stat_files__free(files);
		return ret;
	}
	*out = files;
	return 0;
}

void stat_files__free(struct stat_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < STAT_CSV_TABLES; i++) {
		atomic_file__free(files->files[i]);
		free(files->paths[i]);
	}
	free(files);
}

static int write_table(struct atomic_file *file, const struct stat_report *report, size_t table,
		       struct error *err)
{
	size_t length = 0;
	char *text = NULL;
	FILE *out = text_stream__open(&text, &length);
	int ret;

	if (!out)
		return error__set(err, -ENOMEM, "out of memory");
	stat_csv__print_table(out, report, table);
	if (fclose(out))
		return error__set(err, -ENOMEM, "out of memory");
	ret = atomic_file__write(file, text, length, err);
	free(text);
	return ret;
}

int stat_files__write(struct stat_files *files, const struct stat_report *report, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < STAT_CSV_TABLES && !ret; i++)
		ret = write_table(files->files[i], report, i, err);
	return ret;
}
