// SPDX-License-Identifier: BSD-2-Clause
// Separate debug files; see debug_file.h.
#include "symbol/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/build_id.h"
#include "symbol/debuginfod.h"
#include "symbol/file_crc.h"
#include "target/elf_file.h"
#include "target/root_file.h"

#define DEBUG_FOLDER "/usr/lib/debug"

struct search {
	const struct elf_file *elf;
	pid_t pid;
	const uint8_t *id;
	size_t id_size;
	struct linked_files *linked; /* NULL if not wanted */
	struct elf_file *found;
};

/* Takes ownership of a file that only its CRC can confirm. */
static void keep(struct search *search, struct elf_file *file)
{
	struct linked_files *linked = search->linked;

	if (linked->count < LINKED_FILES_MAX)
		linked->files[linked->count++] = file;
	else
		elf_file__free(file);
}

/* Takes ownership of `fd`, which may be a negative errno. */
static bool take(struct search *search, int fd, bool by_link)
{
	struct elf_file *file;
	const uint8_t *id;
	size_t size;

	if (fd < 0 || elf_file__open_debug_fd(fd, "debug file", &file, NULL))
		return false;
	size = elf_file__build_id(file, &id);
	if (search->id_size && size == search->id_size && memcmp(id, search->id, size) == 0) {
		search->found = file;
		return true;
	}
	if (by_link && (!search->id_size || !size))
		keep(search, file);
	else
		elf_file__free(file);
	return false;
}

/* A name given by the object itself is looked up in the process's root only. */
static bool try_named(struct search *search, const char *path)
{
	return take(search, root_file__open(search->pid, path), true);
}

static bool try_build_id(struct search *search)
{
	char path[PATH_MAX], hex[BUILD_ID_TEXT_SIZE];

	if (search->id_size < 2)
		return false;
	build_id__write(search->id, search->id_size, hex);
	snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", hex, hex + 2);
	return take(search, root_file__open(search->pid, path), false) ||
	       take(search, regular_file__open(path), false);
}

static bool try_link(struct search *search, const char *object)
{
	const char *link = elf_file__debug_link(search->elf, &search->linked->crc);
	int folder = object && strrchr(object, '/') ? (int)(strrchr(object, '/') - object) : 0;
	char path[PATH_MAX];

	if (!link || !object || *object != '/')
		return false;
	snprintf(path, sizeof(path), "%.*s/%s", folder, object, link);
	if (try_named(search, path))
		return true;
	snprintf(path, sizeof(path), "%.*s/.debug/%s", folder, object, link);
	if (try_named(search, path))
		return true;
	snprintf(path, sizeof(path), DEBUG_FOLDER "%.*s/%s", folder, object, link);
	return try_named(search, path);
}

/* Looks for files that debuginfod-find(1) or debuggers have fetched. */
static bool try_debuginfod_cache(struct search *search)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");
	char path[PATH_MAX];

	return urls && *urls && debuginfod__cache_path(search->id, search->id_size, path) &&
	       take(search, regular_file__open(path), false);
}

struct elf_file *debug_file__open(const struct elf_file *elf, pid_t pid, const char *path,
				  struct linked_files *linked)
{
	struct search search = {.elf = elf, .pid = pid, .linked = linked};

	*linked = (struct linked_files){0};
	search.id_size = elf_file__build_id(elf, &search.id);
	if (!try_build_id(&search) && !try_link(&search, path))
		try_debuginfod_cache(&search);
	if (search.found)
		linked_files__clear(linked);
	return search.found;
}

void linked_files__clear(struct linked_files *linked)
{
	while (linked->count)
		elf_file__free(linked->files[--linked->count]);
}

struct elf_file *linked_files__take(struct linked_files *linked, struct file_crcs *crcs,
				    bool *later)
{
	struct elf_file *found = NULL;
	size_t i;

	*later = false;
	for (i = 0; i < linked->count && !found; i++) {
		uint32_t crc;
		int ret = file_crcs__find(crcs, linked->files[i], &crc);

		*later = ret == -EAGAIN;
		if (*later)
			return NULL;
		if (!ret && crc == linked->crc)
			found = linked->files[i];
	}
	if (found)
		linked->files[i - 1] = linked->files[--linked->count];
	linked_files__clear(linked);
	return found;
}

bool debug_file__is_wanted(const struct elf_file *elf)
{
	const uint8_t *id;

	return elf_file__build_id(elf, &id) &&
	       (!elf_file__has_table(elf, ELF_TABLE_FULL) || !elf_file__has_lines(elf));
}

struct elf_file *debug_file__fetch(const struct elf_file *elf, struct debuginfod *debuginfod,
				   bool *later)
{
	struct search search = {.elf = elf};
	const char *path;
	int ret;

	search.id_size = elf_file__build_id(elf, &search.id);
	ret = debuginfod__find(debuginfod, search.id, search.id_size, &path);
	*later = ret == -EAGAIN;
	if (!ret)
		take(&search, regular_file__open(path), false);
	return search.found;
}
