// SPDX-License-Identifier: BSD-2-Clause
// A kernel's name out of another process's memory, see remote_name.h.
#include "symbol/remote_name.h"

#include <errno.h>

#include "target/process_memory.h"

#define NAME_OFFSET 8

int remote_name__read_string(pid_t pid, uint64_t address, char name[REMOTE_NAME_SIZE])
{
	int ret = process_memory__read_string(pid, address, name, REMOTE_NAME_SIZE);

	if (ret)
		return ret == -ENAMETOOLONG ? -EINVAL : ret;
	return kernel_name__valid(name, REMOTE_NAME_SIZE) ? 0 : -EINVAL;
}

int remote_name__read(pid_t pid, uint64_t handle, char name[REMOTE_NAME_SIZE])
{
	uint64_t address;
	int ret = process_memory__read(pid, handle + NAME_OFFSET, &address, sizeof(address));

	return ret ? ret : remote_name__read_string(pid, address, name);
}
