// SPDX-License-Identifier: BSD-2-Clause
// Opened ELF files and their symbols; see symbol_cache.h.
#include "symbol/symbol_cache.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/debug_file.h"
#include "symbol/file_crc.h"
#include "symbol/frame_info.h"
#include "symbol/source_lines.h"
#include "symbol/vdso.h"
#include "target/elf_file.h"

/* For all indexes together: the least recently used goes first, the newest stays. */
#define INDEX_BYTES_MAX (64u << 20)
/* The same for debug information, which is far larger. */
#define LINES_BYTES_MAX (512u << 20)
/* The same for frame information: about ten MiB for the largest libraries. */
#define FRAMES_BYTES_MAX (256u << 20)

struct symbol_cache {
	struct symbol_file *files;
	size_t count, max;
	uint64_t clock;
	struct file_key vdso;	       /* all zero until it is opened */
	struct debuginfod *debuginfod; /* or NULL */
	struct file_crcs *crcs;
};

struct symbol_cache *symbol_cache__new(size_t max_files)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->max = max_files ? max_files : 1;
	cache->files = calloc(cache->max, sizeof(*cache->files));
	cache->crcs = file_crcs__new();
	if (cache->files && cache->crcs)
		return cache;
	symbol_cache__free(cache);
	return NULL;
}

void symbol_cache__ask(struct symbol_cache *cache, struct debuginfod *debuginfod)
{
	cache->debuginfod = debuginfod;
}

/*
 * Others may hold the handle: they must not read another file through a descriptor that was closed
 * and reused.
 */
static void clear(struct symbol_file *file)
{
	if (file->frames) {
		elf_cntl(file->frames, ELF_C_FDDONE);
		elf_end(file->frames);
	}
	source_lines__free(file->lines);
	linked_files__clear(&file->linked);
	elf_file__free(file->debug);
	elf_file__free(file->elf);
}

void symbol_cache__clear(struct symbol_cache *cache)
{
	while (cache->count)
		clear(&cache->files[--cache->count]);
}

void symbol_cache__free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	symbol_cache__clear(cache);
	file_crcs__free(cache->crcs);
	free(cache->files);
	free(cache);
}

static void drop(struct symbol_cache *cache, size_t i)
{
	clear(&cache->files[i]);
	cache->files[i] = cache->files[--cache->count];
}

static size_t least_recently_used(const struct symbol_cache *cache)
{
	size_t oldest = 0;

	for (size_t i = 1; i < cache->count; i++) {
		if (cache->files[i].used < cache->files[oldest].used)
			oldest = i;
	}
	return oldest;
}

static size_t index_size(const struct symbol_file *file)
{
	return (file->elf ? elf_file__index_size(file->elf) : 0) +
	       (file->debug ? elf_file__index_size(file->debug) : 0);
}

void symbol_cache__trim(struct symbol_cache *cache)
{
	for (;;) {
		size_t indexes = 0, lines = 0;
		uint64_t frames = 0;

		for (size_t i = 0; i < cache->count; i++) {
			indexes += index_size(&cache->files[i]);
			lines += source_lines__size(cache->files[i].lines);
			frames += cache->files[i].frames_size;
		}
		if ((indexes <= INDEX_BYTES_MAX && lines <= LINES_BYTES_MAX &&
		     frames <= FRAMES_BYTES_MAX) ||
		    cache->count <= 1)
			return;
		drop(cache, least_recently_used(cache));
	}
}

static struct file_key key_of(const struct stat *stat)
{
	return (struct file_key){
		.device = stat->st_dev,
		.inode = stat->st_ino,
		.size = (uint64_t)stat->st_size,
		.changed_s = (uint64_t)stat->st_mtim.tv_sec,
		.changed_ns = (uint64_t)stat->st_mtim.tv_nsec,
	};
}

struct symbol_file *symbol_cache__find(struct symbol_cache *cache, const struct file_key *key)
{
	for (size_t i = 0; i < cache->count; i++) {
		struct symbol_file *file = &cache->files[i];

		if (memcmp(&file->key, key, sizeof(*key)) == 0) {
			file->used = ++cache->clock;
			return file;
		}
	}
	return NULL;
}

/* Counts a debug file, too, even one that may still come. */
static size_t files_of(const struct symbol_file *file)
{
	return 1 + (file->debug || file->debuginfod) + file->linked.count;
}

static size_t open_files(const struct symbol_cache *cache)
{
	size_t files = 0;

	for (size_t i = 0; i < cache->count; i++)
		files += files_of(&cache->files[i]);
	return files;
}

static struct symbol_file *add(struct symbol_cache *cache, const struct symbol_file *file)
{
	struct symbol_file *added;

	while (cache->count && open_files(cache) + files_of(file) > cache->max)
		drop(cache, least_recently_used(cache));
	added = &cache->files[cache->count++];
	*added = *file;
	added->used = ++cache->clock;
	return added;
}

int symbol_cache__open(struct symbol_cache *cache, int fd, pid_t pid, const char *path,
		       struct symbol_file **out)
{
	struct symbol_file file = {0};
	struct stat stat;

	*out = NULL;
	if (fstat(fd, &stat)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	file.key = key_of(&stat);
	*out = symbol_cache__find(cache, &file.key);
	if (*out) {
		close(fd);
		return 0;
	}
	if (elf_file__open_fd(fd, "mapped file", &file.elf, NULL) == -ENOMEM)
		return -ENOMEM;
	if (file.elf && pid)
		file.debug = debug_file__open(file.elf, pid, path, &file.linked);
	file.crcs = cache->crcs;
	if (file.elf && pid && !file.debug && cache->debuginfod && debug_file__is_wanted(file.elf))
		file.debuginfod = cache->debuginfod;
	*out = add(cache, &file);
	return 0;
}

int symbol_cache__open_vdso(struct symbol_cache *cache, struct symbol_file **out)
{
	int fd, ret;

	*out = cache->vdso.size ? symbol_cache__find(cache, &cache->vdso) : NULL;
	if (*out)
		return 0;
	fd = vdso__open();
	if (fd < 0)
		return fd;
	ret = symbol_cache__open(cache, fd, 0, NULL, out);
	if (!ret && *out)
		cache->vdso = (*out)->key;
	return ret;
}

/*
 * Requests debug files only for files with frames in them; one that comes late serves the frames
 * named after that.
 */
static void fetch_debug(struct symbol_file *file)
{
	bool later = false;

	if (!file->linked.count && !file->debuginfod)
		return;
	if (file->linked.count)
		file->debug = linked_files__take(&file->linked, file->crcs, &later);
	if (!file->debug && !later && file->debuginfod)
		file->debug = debug_file__fetch(file->elf, file->debuginfod, &later);
	if (!later)
		file->debuginfod = NULL;
	if (file->debug && !file->lines)
		file->looked_for_lines = false;
}

int symbol_file__name(struct symbol_file *file, uint64_t file_offset, char **name, uint64_t *offset)
{
	uint64_t vaddr;
	bool in_debug;

	*name = NULL;
	if (!file->elf || !elf_file__offset_to_vaddr(file->elf, file_offset, &vaddr))
		return -ENOENT;
	fetch_debug(file);
	in_debug = file->debug && !elf_file__has_table(file->elf, ELF_TABLE_FULL);
	if (in_debug && !elf_file__symbol_at(file->debug, vaddr, name, offset))
		return 0;
	return elf_file__symbol_at(file->elf, vaddr, name, offset);
}

int symbol_file__line(struct symbol_file *file, uint64_t file_offset, char **path, uint32_t *line)
{
	uint64_t vaddr;

	if (!file->elf || !elf_file__offset_to_vaddr(file->elf, file_offset, &vaddr))
		return -ENOENT;
	fetch_debug(file);
	if (!file->looked_for_lines) {
		file->looked_for_lines = true;
		file->lines = source_lines__new(elf_file__fd(file->elf));
		if (!file->lines && file->debug)
			file->lines = source_lines__new(elf_file__fd(file->debug));
	}
	return file->lines ? source_lines__find(file->lines, vaddr, path, line) : -ENOENT;
}

struct Elf *symbol_file__frames(struct symbol_file *file, uint64_t *size)
{
	if (!file->looked_for_frames) {
		file->looked_for_frames = true;
		file->frames =
			file->elf ? frame_info__open(elf_file__fd(file->elf), &file->frames_size) :
				    NULL;
	}
	*size = file->frames_size;
	return file->frames;
}
