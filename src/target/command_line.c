// SPDX-License-Identifier: BSD-2-Clause
// The command line of a process; see command_line.h.
#include "target/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_SIZE 4096

/* Replaces the zeros between words with spaces, and removes padding at the end. */
static void join_words(char *text, size_t length)
{
	while (length && !text[length - 1])
		length--;
	for (size_t i = 0; i < length; i++)
		if (!text[i])
			text[i] = ' ';
}

int command_line__read(struct memory_reader *memory, const struct process_info *info, char *text,
		       size_t size)
{
	uint64_t length =
		info->arguments_end > info->arguments ? info->arguments_end - info->arguments : 0;
	int ret;

	memset(text, 0, size);
	if (!length)
		return -ENODATA;
	length = length < size - 1 ? length : size - 1;
	ret = memory_reader__read(memory, proc__living_thread(info->pid), info->arguments, text,
				  length);
	if (ret)
		memset(text, 0, size);
	else
		join_words(text, length);
	return ret;
}

char *command_line__from_proc(pid_t pid)
{
	char path[64], *text = calloc(1, COMMAND_SIZE);
	ssize_t length;
	int fd;

	proc__path(pid, "cmdline", path, sizeof(path));
	fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	length = fd >= 0 ? read(fd, text, COMMAND_SIZE - 1) : 0;
	if (fd >= 0)
		close(fd);
	if (length > 0)
		join_words(text, (size_t)length);
	if (length > 0 && *text)
		return text;
	free(text);
	return NULL;
}
