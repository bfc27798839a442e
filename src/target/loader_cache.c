// SPDX-License-Identifier: BSD-2-Clause
// The loader's cache and its default directories; see loader_cache.h.
#include "target/loader_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define CACHE_PATH "/etc/ld.so.cache"
#define CACHE_MAX (64u << 20)
/*
 * Each new path is compared with all others, and each file is opened. A machine with all versions
 * of CUDA has a few dozen.
 */
#define PATHS_MAX 1024
#define OLD_MAGIC "ld.so-1.7.0"
#define NEW_MAGIC "glibc-ld.so.cache1.1"
/* The size of an entry in the old format, and where its table begins. */
#define OLD_ENTRY 12
#define OLD_HEADER 16
/* The bits of an entry's flags for the architecture, and their value for x86-64. */
#define FLAG_REQUIRED 0xff00
#define FLAG_X86_64 0x0300

static const char *const default_directories[] = {
	"/usr/local/nvidia/lib64",
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib64",
	"/usr/local/cuda/lib64",
};

struct cache_header {
	char magic[20];
	uint32_t entries;
	uint32_t strings_size;
	uint8_t flags;
	uint8_t pad[3];
	uint32_t extension;
	uint32_t unused[3];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of strings, from the header */
	uint32_t os_version;
	uint64_t hwcap;
};

void path_list__clear(struct path_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct path_list){0};
}

static bool is_cuda(const char *name)
{
	return strcmp(name, "libcuda.so.1") == 0 ||
	       strncmp(name, "libcudart.so.", strlen("libcudart.so.")) == 0;
}

static int add_path(struct path_list *list, const char *root, const char *directory,
		    const char *name)
{
	char *path;
	int ret;

	if (asprintf(&path, "%s%s%s", root, directory, name) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->paths[i], path) == 0) {
			free(path);
			return 0;
		}
	}
	ret = list->count == PATHS_MAX ? -E2BIG : ARRAY_APPEND(list->paths, list->count, path);
	if (ret)
		free(path);
	return ret;
}

static int search_directory(const char *root, const char *directory, struct path_list *list)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s%s", root, directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	dir = opendir(path);
	if (!dir)
		return 0;
	snprintf(path, sizeof(path), "%s/", directory);
	while (!ret && (entry = readdir(dir))) {
		if (is_cuda(entry->d_name))
			ret = add_path(list, root, path, entry->d_name);
	}
	closedir(dir);
	return ret;
}

static int search_default_directories(const char *root, struct path_list *list)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(default_directories) / sizeof(char *); i++)
		ret = search_directory(root, default_directories[i], list);
	return ret;
}

/* Reads the whole cache, with a zero after it. -ENOENT if there is none. */
static int read_cache(const char *path, char **data, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	size_t done = 0;
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || stat.st_size > CACHE_MAX) {
		close(fd);
		return -EBADMSG;
	}
	*size = (size_t)stat.st_size;
	*data = calloc(1, *size + 1);
	if (!*data)
		ret = -ENOMEM;
	while (!ret && done < *size) {
		ssize_t n = read(fd, *data + done, *size - done);

		if (n < 0 && errno != EINTR)
			ret = -errno;
		else if (n == 0)
			*size = done;
		else if (n > 0)
			done += (size_t)n;
	}
	close(fd);
	if (ret) {
		free(*data);
		*data = NULL;
	}
	return ret;
}

/*
 * Finds where the new format begins: at the start, or after the old format's table, aligned to 8.
 */
static int find_new_format(const char *data, size_t size, size_t *start)
{
	uint32_t entries;

	*start = 0;
	if (size >= OLD_HEADER && memcmp(data, OLD_MAGIC, strlen(OLD_MAGIC)) == 0) {
		memcpy(&entries, data + 12, sizeof(entries));
		if (entries > size / OLD_ENTRY)
			return -EBADMSG;
		*start = (OLD_HEADER + (size_t)entries * OLD_ENTRY + 7) / 8 * 8;
	}
	if (*start > size || size - *start < sizeof(struct cache_header) ||
	    memcmp(data + *start, NEW_MAGIC, strlen(NEW_MAGIC)) != 0)
		return -EBADMSG;
	return 0;
}

static int parse_cache(const char *data, size_t size, const char *root, struct path_list *list)
{
	struct cache_header header;
	struct cache_entry entry;
	size_t start;
	int ret = find_new_format(data, size, &start);

	if (ret)
		return ret;
	data += start;
	size -= start;
	memcpy(&header, data, sizeof(header));
	if (header.entries > (size - sizeof(header)) / sizeof(entry))
		return -EBADMSG;
	for (uint32_t i = 0; !ret && i < header.entries; i++) {
		memcpy(&entry, data + sizeof(header) + i * sizeof(entry), sizeof(entry));
		if (entry.key >= size || entry.value >= size)
			return -EBADMSG;
		if ((entry.flags & FLAG_REQUIRED) != FLAG_X86_64 || !is_cuda(data + entry.key) ||
		    data[entry.value] != '/' || strnlen(data + entry.value, PATH_MAX) == PATH_MAX)
			continue;
		ret = add_path(list, root, data + entry.value, "");
	}
	return ret;
}

int loader_cache__find_cuda(const char *root, struct path_list *list, struct error *err)
{
	char path[PATH_MAX];
	char *data = NULL;
	size_t size = 0;
	int ret;

	*list = (struct path_list){0};
	if (snprintf(path, sizeof(path), "%s%s", root, CACHE_PATH) >= (int)sizeof(path))
		return error__set(err, -ENAMETOOLONG, "%s: path too long", root);
	ret = read_cache(path, &data, &size);
	if (ret == -ENOENT)
		ret = search_default_directories(root, list);
	else if (!ret)
		ret = parse_cache(data, size, root, list);
	free(data);
	if (!ret)
		return 0;
	path_list__clear(list);
	if (ret == -EBADMSG)
		return error__set(err, ret, "%s: not a cache of the dynamic loader; run ldconfig",
				  path);
	return error__set(err, ret, "%s: %s", path, strerror(-ret));
}

int loader_cache__find_in(const char *directory, struct path_list *list, struct error *err)
{
	int ret = search_directory("", directory, list);

	return ret ? error__set(err, ret, "%s: %s", directory, strerror(-ret)) : 0;
}
