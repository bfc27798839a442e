// SPDX-License-Identifier: BSD-2-Clause
// Converts a host function's address to its kernel's name; see host_stub.h.
#include "symbol/host_stub.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/table.h"
#include "symbol/kernel_name.h"
#include "symbol/symbol_cache.h"
#include "target/mounts.h"
#include "target/proc_maps.h"

#define PROCESSES_KEPT 4
#define MAPPINGS_KEPT 65536 /* per process; the kernel's default limit */
#define FILES_KEPT_NS (30 * NS_PER_S)

/* The file-backed code mappings of a process. */
struct mapped_code {
	pid_t pid;
	struct mapping *list; /* by address; they own their paths */
	size_t count;
	UT_hash_handle hh; /* the oldest first */
};

struct host_stubs {
	struct symbol_cache *cache;
	struct mapped_code *processes;
	bool keeps;	    /* keep the mounts, too */
	bool looks;	    /* files may be open */
	uint64_t looked_ns; /* of the last look-up; 0: just now */
};

struct host_stubs *host_stubs__new(size_t max_files)
{
	struct host_stubs *stubs = calloc(1, sizeof(*stubs));

	if (!stubs)
		return NULL;
	stubs->cache = symbol_cache__new(max_files);
	if (stubs->cache)
		return stubs;
	free(stubs);
	return NULL;
}

static void free_code(struct mapped_code *code)
{
	for (size_t i = 0; i < code->count; i++)
		free((char *)code->list[i].path);
	free(code->list);
	free(code);
}

static void drop(struct host_stubs *stubs, struct mapped_code *code)
{
	HASH_DEL(stubs->processes, code);
	free_code(code);
}

static void forget_mappings(struct host_stubs *stubs)
{
	TABLE_CLEAR(stubs->processes, free_code);
	if (stubs->keeps)
		mounts__forget();
	stubs->keeps = false;
}

void host_stubs__forget(struct host_stubs *stubs, uint64_t now_ns)
{
	forget_mappings(stubs);
	if (!stubs->looked_ns)
		stubs->looked_ns = now_ns;
	if (!stubs->looks || now_ns - stubs->looked_ns < FILES_KEPT_NS)
		return;
	symbol_cache__clear(stubs->cache);
	stubs->looks = false;
}

void host_stubs__free(struct host_stubs *stubs)
{
	if (!stubs)
		return;
	forget_mappings(stubs);
	symbol_cache__free(stubs->cache);
	free(stubs);
}

/* --- what is mapped --- */

static int keep_mapping(const struct mapping *mapping, void *arg)
{
	struct mapped_code *code = arg;

	if (!mapping->executable || !mapping__is_file(mapping))
		return 0;
	if (code->count == MAPPINGS_KEPT)
		return -E2BIG;
	if (ARRAY_RESERVE(code->list, code->count, 1))
		return -ENOMEM;
	code->list[code->count] = *mapping;
	code->list[code->count].path = strdup(mapping->path);
	return code->list[code->count++].path ? 0 : -ENOMEM;
}

/* Reads as many mappings as fit. */
static int read_code(struct host_stubs *stubs, pid_t pid, struct mapped_code **out)
{
	struct mapped_code *code = calloc(1, sizeof(*code));
	int ret;

	if (!code)
		return -ENOMEM;
	code->pid = pid;
	ret = proc_maps__each(pid, keep_mapping, code);
	if (ret && ret != -E2BIG && ret != -EFBIG) {
		free_code(code);
		return ret;
	}
	if (HASH_COUNT(stubs->processes) >= PROCESSES_KEPT)
		drop(stubs, stubs->processes);
	if (TABLE_ADD(stubs->processes, pid, code)) {
		free_code(code);
		return -ENOMEM;
	}
	if (!stubs->keeps)
		mounts__keep();
	stubs->keeps = true;
	*out = code;
	return 0;
}

static int compare_address(const void *key, const void *item)
{
	const struct mapping *mapping = item;
	uint64_t address = *(const uint64_t *)key;

	return address < mapping->start ? -1 : address >= mapping->end;
}

/*
 * Returns a descriptor of the file that is mapped at the address and sets the offset in it; or
 * returns a negative errno.
 */
static int open_file(struct host_stubs *stubs, pid_t pid, uint64_t address, uint64_t *file_offset)
{
	const struct mapping *mapping;
	struct mapped_code *code = TABLE_FIND(stubs->processes, pid, &pid);
	int ret = 0;

	if (!code)
		ret = read_code(stubs, pid, &code);
	if (ret)
		return ret;
	mapping = code->count ? bsearch(&address, code->list, code->count, sizeof(*code->list),
					compare_address) :
				NULL;
	if (!mapping)
		return -ENOENT;
	*file_offset = address - mapping->start + mapping->file_offset;
	return mapping__open(mapping, pid);
}

/* --- names --- */

static int name_function(struct symbol_file *file, uint64_t file_offset, char **name)
{
	uint64_t offset;
	char *symbol;
	int ret = symbol_file__name(file, file_offset, &symbol, &offset);

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

int host_stub__name(struct host_stubs *stubs, pid_t pid, uint64_t address, char **name)
{
	struct symbol_file *file;
	uint64_t file_offset = 0;
	int fd = open_file(stubs, pid, address, &file_offset), ret;

	*name = NULL;
	if (fd < 0)
		return fd;
	stubs->looks = true;
	stubs->looked_ns = 0;
	ret = symbol_cache__open(stubs->cache, fd, 0, NULL, &file);
	if (!ret)
		ret = name_function(file, file_offset, name);
	symbol_cache__trim(stubs->cache);
	if (!ret && !kernel_name__valid(*name, KERNEL_NAME_MAX + 1)) {
		free(*name);
		*name = NULL;
		ret = -ENOENT;
	}
	return ret;
}
