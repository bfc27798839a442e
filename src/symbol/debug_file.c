// SPDX-License-Identifier: BSD-2-Clause
// Separate debug files, see debug_file.h.
#include "symbol/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "symbol/build_id.h"
#include "symbol/debuginfod.h"
#include "target/elf_file.h"
#include "target/root_file.h"

#define DEBUG_FOLDER "/usr/lib/debug"
/* What is read at most to find a CRC: half a second. */
#define CRC_BYTES_MAX (1ull << 30)

struct search {
	const struct elf_file *elf;
	pid_t pid;
	const uint8_t *id;
	size_t id_size;
	uint32_t crc;
	struct elf_file *found;
};

static bool has_crc(const struct elf_file *file, uint32_t expected)
{
	uint8_t buffer[65536];
	uLong crc = crc32(0, NULL, 0);
	long n;

	for (uint64_t at = 0; at < CRC_BYTES_MAX; at += (uint64_t)n) {
		n = elf_file__read(file, at, buffer, sizeof(buffer));
		if (n < 0)
			return false;
		if (!n)
			return crc == expected;
		crc = crc32(crc, buffer, (uInt)n);
	}
	return false;
}

static bool belongs(const struct search *search, const struct elf_file *file, bool by_link)
{
	const uint8_t *id;
	size_t size = elf_file__build_id(file, &id);

	if (search->id_size && size)
		return size == search->id_size && memcmp(id, search->id, size) == 0;
	return by_link && has_crc(file, search->crc);
}

/* Takes over `fd`, which may be an error. */
static bool take(struct search *search, int fd, bool by_link)
{
	struct elf_file *file;

	if (fd < 0 || elf_file__open_debug_fd(fd, "debug file", &file, NULL))
		return false;
	if (belongs(search, file, by_link)) {
		search->found = file;
		return true;
	}
	elf_file__free(file);
	return false;
}

/* What the object says of its debug file's name is looked for in the process's root alone. */
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
	const char *link = elf_file__debug_link(search->elf, &search->crc);
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

/* What debuginfod-find(1) and debuggers have fetched. */
static bool try_debuginfod_cache(struct search *search)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");
	char path[PATH_MAX];

	return urls && *urls && debuginfod__cache_path(search->id, search->id_size, path) &&
	       take(search, regular_file__open(path), false);
}

struct elf_file *debug_file__open(const struct elf_file *elf, pid_t pid, const char *path)
{
	struct search search = {.elf = elf, .pid = pid};

	search.id_size = elf_file__build_id(elf, &search.id);
	if (!try_build_id(&search) && !try_link(&search, path))
		try_debuginfod_cache(&search);
	return search.found;
}

bool debug_file__is_wanted(const struct elf_file *elf)
{
	const uint8_t *id;

	return elf_file__build_id(elf, &id) &&
	       (!elf_file__has_table(elf, ELF_TABLE_FULL) || !elf_file__has_lines(elf));
}

struct elf_file *debug_file__fetch(const struct elf_file *elf, struct debuginfod *debuginfod, bool *later)
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
