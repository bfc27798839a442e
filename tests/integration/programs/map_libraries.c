// SPDX-License-Identifier: BSD-2-Clause
// map_libraries DIRECTORY FIRST COUNT: maps DIRECTORY/N/libcuda.so.1 as code, prints READY, and
// ends after a line on stdin.
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *at;

	if (fd < 0 || fstat(fd, &status))
		return -1;
	at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return at == MAP_FAILED ? -1 : 0;
}

int main(int argc, char **argv)
{
	long first = argc == 4 ? strtol(argv[2], NULL, 10) : 0,
	     count = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	char path[PATH_MAX];

	for (long i = first; i < first + count; i++) {
		snprintf(path, sizeof(path), "%s/%ld/libcuda.so.1", argv[1], i);
		if (map(path)) {
			perror(path);
			return 1;
		}
	}
	puts("READY");
	fflush(stdout);
	getchar();
	return 0;
}
