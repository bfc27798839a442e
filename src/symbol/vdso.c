// SPDX-License-Identifier: BSD-2-Clause
// The vdso as a file; see vdso.h.
#include "symbol/vdso.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target/proc_maps.h"

static int copy_vdso(const struct mapping *mapping, void *arg)
{
	size_t size = mapping->end - mapping->start;
	int *fd = arg;

	if (strcmp(mapping->path, VDSO_NAME) != 0)
		return 0;
	*fd = memfd_create("vdso", MFD_CLOEXEC);
	if (*fd < 0)
		return -errno;
	if (write(*fd, (const void *)mapping->start, size) == (ssize_t)size)
		return 1;
	close(*fd);
	return -EIO;
}

int vdso__open(void)
{
	int fd = -1, ret = proc_maps__each(getpid(), copy_vdso, &fd);

	if (ret < 0)
		return ret;
	return ret ? fd : -ENOENT;
}
