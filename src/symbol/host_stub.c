// SPDX-License-Identifier: BSD-2-Clause
// From a host function's address to its kernel's name, see host_stub.h.
#include "symbol/host_stub.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/kernel_name.h"
#include "target/elf_file.h"
#include "target/proc_maps.h"

/* All indexes together; what is used least recently goes first, the newest stays. */
#define INDEX_BYTES_MAX (64u << 20)

struct cached_file {
	struct elf_file *elf; /* NULL: it is no ELF file, which is worth knowing too */
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
	uint64_t used; /* value of the cache's clock */
};

struct symbol_cache {
	struct cached_file *files;
	size_t count, max;
	uint64_t clock;
};

struct symbol_cache *symbol_cache__new(size_t max_files)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->max = max_files ? max_files : 1;
	cache->files = calloc(cache->max, sizeof(*cache->files));
	if (!cache->files) {
		free(cache);
		return NULL;
	}
	return cache;
}

void symbol_cache__free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		elf_file__free(cache->files[i].elf);
	free(cache->files);
	free(cache);
}

static void drop(struct symbol_cache *cache, size_t i)
{
	elf_file__free(cache->files[i].elf);
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

/* Called after a look-up, when the newest index has grown. */
static void limit_memory(struct symbol_cache *cache)
{
	for (;;) {
		size_t bytes = 0;

		for (size_t i = 0; i < cache->count; i++) {
			if (cache->files[i].elf)
				bytes += elf_file__index_size(cache->files[i].elf);
		}
		if (bytes <= INDEX_BYTES_MAX || cache->count <= 1)
			return;
		drop(cache, least_recently_used(cache));
	}
}

static bool is_same(const struct cached_file *file, const struct stat *stat)
{
	return file->device == stat->st_dev && file->inode == stat->st_ino &&
	       file->size == stat->st_size && file->changed.tv_sec == stat->st_mtim.tv_sec &&
	       file->changed.tv_nsec == stat->st_mtim.tv_nsec;
}

/* The cached file for `fd`, which is taken over. NULL in *elf when it is no ELF file. */
static int look_up_file(struct symbol_cache *cache, int fd, struct elf_file **elf)
{
	struct cached_file *file;
	struct stat stat;

	*elf = NULL;
	if (fstat(fd, &stat)) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	for (size_t i = 0; i < cache->count; i++) {
		file = &cache->files[i];
		if (is_same(file, &stat)) {
			close(fd);
			file->used = ++cache->clock;
			*elf = file->elf;
			return 0;
		}
	}
	if (elf_file__open_fd(fd, "mapped file", elf, NULL) == -ENOMEM)
		return -ENOMEM;
	if (cache->count == cache->max)
		drop(cache, least_recently_used(cache));
	cache->files[cache->count++] = (struct cached_file){
		.elf = *elf, .device = stat.st_dev, .inode = stat.st_ino, .size = stat.st_size,
		.changed = stat.st_mtim, .used = ++cache->clock,
	};
	return 0;
}

struct search {
	pid_t pid;
	uint64_t address;
	uint64_t file_offset; /* of the address, once found */
	int fd;
};

static int open_path(char *path)
{
	int fd;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		fd = -errno;
	free(path);
	return fd;
}

/* The link in map_files leads to the very file; the path may lead to its successor. */
static int open_mapped_file(const struct mapping *mapping, pid_t pid)
{
	int fd = open_path(mapping__map_files_path(mapping, pid));

	if (fd < 0 && !mapping->deleted)
		fd = open_path(mapping__root_path(mapping, pid));
	return fd;
}

static int match_mapping(const struct mapping *mapping, void *arg)
{
	struct search *search = arg;

	if (search->address >= mapping->end)
		return 0;
	if (search->address < mapping->start || !mapping->executable ||
	    !mapping__is_file(mapping))
		return -ENOENT;
	search->file_offset = search->address - mapping->start + mapping->file_offset;
	search->fd = open_mapped_file(mapping, search->pid);
	return search->fd < 0 ? search->fd : 1;
}

static int name_function(struct elf_file *elf, uint64_t file_offset, char **name)
{
	uint64_t vaddr, offset;
	char *symbol;
	int ret;

	if (!elf || !elf_file__offset_to_vaddr(elf, file_offset, &vaddr))
		return -ENOENT;
	ret = elf_file__symbol_at(elf, vaddr, &symbol, &offset);
	if (ret)
		return ret;
	if (offset == 0) {
		*name = kernel_name__from_host_symbol(symbol);
		ret = *name ? 0 : -ENOMEM;
	} else {
		ret = -ENOENT;
	}
	free(symbol);
	return ret;
}

int host_stub__name(struct symbol_cache *cache, pid_t pid, uint64_t address, char **name)
{
	struct search search = {.pid = pid, .address = address, .fd = -1};
	struct elf_file *elf;
	int ret = proc_maps__each(pid, match_mapping, &search);

	*name = NULL;
	if (ret != 1)
		return ret ? ret : -ENOENT;
	ret = look_up_file(cache, search.fd, &elf);
	if (!ret)
		ret = name_function(elf, search.file_offset, name);
	limit_memory(cache);
	if (!ret && !kernel_name__valid(*name, KERNEL_NAME_MAX + 1)) {
		free(*name);
		*name = NULL;
		ret = -ENOENT;
	}
	return ret;
}
