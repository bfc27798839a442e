// SPDX-License-Identifier: BSD-2-Clause
// From a host function's address to its kernel's name, see host_stub.h.
#include "symbol/host_stub.h"

#include <errno.h>
#include <stdlib.h>

#include "symbol/kernel_name.h"
#include "target/proc_maps.h"

struct search {
	pid_t pid;
	uint64_t address;
	uint64_t file_offset; /* of the address, once found */
	int fd;
};

static int match_mapping(const struct mapping *mapping, void *arg)
{
	struct search *search = arg;

	if (search->address >= mapping->end)
		return 0;
	if (search->address < mapping->start || !mapping->executable ||
	    !mapping__is_file(mapping))
		return -ENOENT;
	search->file_offset = search->address - mapping->start + mapping->file_offset;
	search->fd = mapping__open(mapping, search->pid);
	return search->fd < 0 ? search->fd : 1;
}

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

int host_stub__name(struct symbol_cache *cache, pid_t pid, uint64_t address, char **name)
{
	struct search search = {.pid = pid, .address = address, .fd = -1};
	struct symbol_file *file;
	int ret = proc_maps__each(pid, match_mapping, &search);

	*name = NULL;
	if (ret != 1)
		return ret ? ret : -ENOENT;
	ret = symbol_cache__open(cache, search.fd, 0, NULL, &file);
	if (!ret)
		ret = name_function(file, search.file_offset, name);
	symbol_cache__trim(cache);
	if (!ret && !kernel_name__valid(*name, KERNEL_NAME_MAX + 1)) {
		free(*name);
		*name = NULL;
		ret = -ENOENT;
	}
	return ret;
}
