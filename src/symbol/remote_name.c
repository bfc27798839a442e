// SPDX-License-Identifier: BSD-2-Clause
// Reads a kernel's name from another process's memory; see remote_name.h.
#include "symbol/remote_name.h"

#include <errno.h>

#define NAME_OFFSET 8

int remote_name__read_string(struct memory_reader *memory, pid_t pid, uint64_t address,
			     char name[REMOTE_NAME_SIZE])
{
	int ret = memory_reader__read_string(memory, pid, address, name, REMOTE_NAME_SIZE);

	if (ret)
		return ret == -ENAMETOOLONG ? -EINVAL : ret;
	return kernel_name__valid(name, REMOTE_NAME_SIZE) ? 0 : -EINVAL;
}

int remote_name__read(struct memory_reader *memory, pid_t pid, uint64_t handle,
		      char name[REMOTE_NAME_SIZE])
{
	uint64_t address;
	int ret = memory_reader__read(memory, pid, handle + NAME_OFFSET, &address, sizeof(address));

	return ret ? ret : remote_name__read_string(memory, pid, address, name);
}
