// SPDX-License-Identifier: BSD-2-Clause
// Shortens command lines, see command_text.h.
#include "output/command_text.h"

#include <stdio.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

void command_text__shorten(const char *command, char *text, size_t size)
{
	const char *from = command;
	size_t length = 0;

	while (*from && length + 1 < size) {
		size_t word = strcspn(from, " ");
		const char *slash =
			from == command || *from == '/' ? memrchr(from, '/', word) : NULL;

		if (slash && slash + 1 < from + word) {
			word -= (size_t)(slash + 1 - from);
			from = slash + 1;
		}
		word += from[word] == ' ';
		word = smaller(word, size - 1 - length);
		memcpy(text + length, from, word);
		length += word;
		from += word;
	}
	text[length] = '\0';
}

void command_text__public(const char *command, const char *comm, char *text, size_t size)
{
	size_t program = strcspn(command, " "), length = program;

	if (program && command[program] && command[program + 1] != '-')
		length += 1 + strcspn(command + program + 1, " ");
	snprintf(text, size, "%.*s", (int)(program ? length : strlen(comm)),
		 program ? command : comm);
}

const char *command_text__without_folder(const char *command)
{
	size_t length = strcspn(command, " ");

	while (length && command[length - 1] != '/')
		length--;
	return command + length;
}
