// SPDX-License-Identifier: BSD-2-Clause
// The process that reads other processes' memory; see memory_server.h.
#include "target/memory_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "target/proc.h"
#include "target/process_memory.h"

#define LINE_ROOM 256 /* of a line of maps; the part that matters is shorter */
#define CHUNK_SIZE 4096

/*
 * Parses "7f00-7f10 rw-s 00000000 00:0e 42    anon_inode:bpf-map": BPF maps, and what a driver has
 * mapped.
 */
static void unmap_line(const char *line)
{
	const char *path = strchr(line, '/');
	unsigned long start, end;
	char *at;

	start = strtoul(line, &at, 16);
	if (*at != '-')
		return;
	end = strtoul(at + 1, &at, 16);
	if (strlen(at) < 5 || at[4] != 's')
		return;
	if (strstr(at, " anon_inode:") || (path && !strncmp(path, "/dev/", 5)))
		munmap((void *)start, end - start);
}

/* A mapping keeps a BPF map alive, as a descriptor does. */
static void unmap_shared(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char chunk[CHUNK_SIZE], line[LINE_ROOM];
	size_t length = 0;
	ssize_t n;

	if (fd < 0)
		return;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (chunk[i] != '\n' && length < sizeof(line) - 1)
				line[length++] = chunk[i];
			if (chunk[i] != '\n')
				continue;
			line[length] = '\0';
			unmap_line(line);
			length = 0;
		}
	}
	close(fd);
}

static int64_t read_bytes(const struct memory_request *request, char *data)
{
	int ret = process_memory__read(request->pid, request->address, data, request->size);

	return ret ? ret : (int64_t)request->size;
}

static int64_t read_string(const struct memory_request *request, char *data)
{
	int ret = process_memory__read_string(request->pid, request->address, data, request->size);

	return ret ? ret : (int64_t)strlen(data) + 1;
}

static void close_environment(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* All pieces come from the program that the process was running at the first one. */
static int64_t read_environment(const struct memory_request *request, char *data, int *fd)
{
	char path[64];
	int64_t n;

	if (!request->address) {
		close_environment(fd);
		proc__path(request->pid, "environ", path, sizeof(path));
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (*fd < 0)
		return request->address ? -EBADF : -errno;
	n = pread(*fd, data, request->size, (off_t)request->address);
	if (n < 0)
		n = -errno;
	if (n <= 0)
		close_environment(fd);
	return n;
}

static int64_t read_for(const struct memory_request *request, char *data, int *fd)
{
	if (request->size > MEMORY_PIECE)
		return -EINVAL;
	switch (request->kind) {
	case MEMORY_BYTES: return read_bytes(request, data);
	case MEMORY_STRING: return read_string(request, data);
	case MEMORY_ENVIRONMENT: return read_environment(request, data, fd);
	default: return -EINVAL;
	}
}

void memory_server__run(int socket)
{
	struct memory_request request;
	struct memory_answer answer;
	int environment = -1;
	ssize_t n;

	unmap_shared();
	for (;;) {
		size_t size = sizeof(answer.result);

		n = recv(socket, &request, sizeof(request), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(request))
			_exit(0);
		answer.result = read_for(&request, answer.data, &environment);
		if (answer.result > 0)
			size += (size_t)answer.result;
		if (send(socket, &answer, size, MSG_NOSIGNAL) < 0)
			_exit(0);
	}
}
