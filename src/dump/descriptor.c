// SPDX-License-Identifier: BSD-2-Clause
// Descriptors of a thread; see descriptor.h.
#include "dump/descriptor.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/text_file.h"

#define POLLED_MAX 64	  /* entries of poll(2)'s array that are read */
#define SELECTED_MAX 1024 /* glibc's FD_SETSIZE */
#define WORD_BITS 64

static enum dump_wait type_of(const char *object)
{
	static const struct {
		const char *start;
		enum dump_wait type;
	} types[] = {
		{"pipe:[", DUMP_WAIT_PIPE},
		{"socket:[", DUMP_WAIT_SOCKET},
		{"/dev/nvidia", DUMP_WAIT_DRIVER},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strncmp(object, types[i].start, strlen(types[i].start)))
			return types[i].type;
	return DUMP_WAIT_FILE;
}

enum dump_wait descriptor__describe(pid_t tid, int fd, char *object, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
	n = readlink(path, object, size - 1);
	object[n > 0 ? n : 0] = '\0';
	return n > 0 ? type_of(object) : DUMP_WAIT_NONE;
}

/* Merges another descriptor into `found`; the same descriptor may be listed twice. */
static int join(int found, int fd)
{
	return found == DESCRIPTOR_NONE || found == fd ? fd : DESCRIPTORS_SOME;
}

int descriptor__of_poll(struct memory_reader *memory, pid_t pid, const uint64_t *arguments)
{
	struct pollfd polled[POLLED_MAX];
	size_t count = (uint32_t)arguments[1];
	int found = DESCRIPTOR_NONE;

	if (!count)
		return DESCRIPTOR_NONE;
	if (count > POLLED_MAX ||
	    memory_reader__read(memory, pid, arguments[0], polled, count * sizeof(*polled)))
		return DESCRIPTORS_SOME;
	for (size_t i = 0; i < count; i++)
		if (polled[i].fd >= 0)
			found = join(found, polled[i].fd);
	return found;
}

static int join_set(int found, const uint64_t *set, unsigned int bits)
{
	for (unsigned int fd = 0; fd < bits; fd++)
		if (set[fd / WORD_BITS] >> fd % WORD_BITS & 1)
			found = join(found, (int)fd);
	return found;
}

int descriptor__of_select(struct memory_reader *memory, pid_t pid, const uint64_t *arguments)
{
	unsigned int bits = (uint32_t)arguments[0];
	uint64_t set[SELECTED_MAX / WORD_BITS];
	size_t size = (bits + WORD_BITS - 1) / WORD_BITS * sizeof(*set);
	int found = DESCRIPTOR_NONE;

	if (bits > SELECTED_MAX)
		return DESCRIPTORS_SOME;
	for (int i = 1; bits && i <= 3; i++) {
		if (!arguments[i])
			continue;
		if (memory_reader__read(memory, pid, arguments[i], set, size))
			return DESCRIPTORS_SOME;
		found = join_set(found, set, bits);
	}
	return found;
}

/* /proc has a line "tfd: NUMBER events: …" for each descriptor. */
int descriptor__of_epoll(pid_t tid, const uint64_t *arguments)
{
	char path[64], text[1024];
	int found = DESCRIPTOR_NONE, fd;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)tid, (int)arguments[0]);
	if (text_file__read("", path, text, sizeof(text)) || strlen(text) == sizeof(text) - 1)
		return DESCRIPTORS_SOME;
	for (const char *line = strstr(text, "tfd:"); line; line = strstr(line + 1, "tfd:"))
		if (sscanf(line, "tfd: %d", &fd) == 1)
			found = join(found, fd);
	return found == DESCRIPTOR_NONE ? DESCRIPTORS_SOME : found;
}
