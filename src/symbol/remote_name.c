// SPDX-License-Identifier: BSD-2-Clause
// A kernel's name out of another process's memory, see remote_name.h.
#include "symbol/remote_name.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define PAGE 4096
#define NAME_OFFSET 8

/* Reads exactly `size` bytes; part of them is -EFAULT. */
static int read_memory(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = {.iov_base = buffer, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* Page by page: what follows the string's last page may not be mapped. */
int remote_name__read_string(pid_t pid, uint64_t address, char name[REMOTE_NAME_SIZE])
{
	size_t done = 0;
	int ret;

	while (done < REMOTE_NAME_SIZE) {
		size_t size = PAGE - (address + done) % PAGE;

		if (size > REMOTE_NAME_SIZE - done)
			size = REMOTE_NAME_SIZE - done;
		ret = read_memory(pid, address + done, name + done, size);
		if (ret)
			return ret;
		if (memchr(name + done, '\0', size))
			break;
		done += size;
	}
	return kernel_name__valid(name, REMOTE_NAME_SIZE) ? 0 : -EINVAL;
}

int remote_name__read(pid_t pid, uint64_t handle, char name[REMOTE_NAME_SIZE])
{
	uint64_t address;
	int ret = read_memory(pid, handle + NAME_OFFSET, &address, sizeof(address));

	return ret ? ret : remote_name__read_string(pid, address, name);
}
