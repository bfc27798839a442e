// SPDX-License-Identifier: BSD-2-Clause
// The memory of another process; see process_memory.h.
#include "target/process_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "target/proc.h"

#define PAGE 4096

static ssize_t read_of_thread(pid_t tid, const struct iovec *local, const struct iovec *remote)
{
	ssize_t n = process_vm_readv(tid, local, 1, remote, 1, 0);

	return n < 0 ? -errno : n;
}

int process_memory__read(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = {.iov_base = buffer, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t n = read_of_thread(pid, &local, &remote);

	/* A leader that has ended has no memory; use another thread. */
	if (n == -ESRCH)
		n = read_of_thread(proc__living_thread(pid), &local, &remote);
	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -EFAULT;
}

/* Reads page by page: the page after the string's last one may not be mapped. */
int process_memory__read_string(pid_t pid, uint64_t address, char *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t part = PAGE - (address + done) % PAGE;
		int ret;

		if (part > size - done)
			part = size - done;
		ret = process_memory__read(pid, address + done, buffer + done, part);
		if (ret)
			return ret;
		if (memchr(buffer + done, '\0', part))
			return 0;
		done += part;
	}
	return -ENAMETOOLONG;
}
