// SPDX-License-Identifier: BSD-2-Clause
// Kineto's variables, see environment.h.
#include "kineto/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/proc.h"

#define PIECE 16384
#define PIECES_MAX 512 /* 8 MiB: the kernel's limit is 6 MiB */

static const char *value_of(const char *variable, const char *name)
{
	size_t length = strlen(name);

	return strncmp(variable, name, length) || variable[length] != '=' ? NULL :
									    variable + length + 1;
}

/* If a name is repeated, getenv takes the first. Returns false if the value does not fit. */
static bool keep(char field[KINETO_FOLDER_SIZE], const char *value)
{
	if (!value || *field)
		return true;
	if (strlen(value) >= KINETO_FOLDER_SIZE)
		return false;
	memcpy(field, value, strlen(value) + 1);
	return true;
}

static void end_variable(struct kineto_variables *variables)
{
	struct kineto_environment *found = &variables->found;
	const char *text = variables->text, *daemon, *socket;

	variables->text[variables->length] = '\0';
	daemon = value_of(text, "KINETO_USE_DAEMON");
	socket = value_of(text, "KINETO_IPC_SOCKET_DIR");
	found->uses_daemon |= daemon && *daemon;
	found->other_socket |= socket && *socket;
	found->folder_cut |= !keep(found->folder, value_of(text, "KINETO_ONDEMAND_TRACE_DIR"));
	keep(found->temporary, value_of(text, "TMPDIR"));
	variables->has_broken |= !variables->has_equals;
	variables->has_equals = false;
	variables->length = 0;
}

void kineto_variables__push(struct kineto_variables *variables, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!bytes[i]) {
			end_variable(variables);
			continue;
		}
		variables->has_equals |= bytes[i] == '=';
		if (variables->length < sizeof(variables->text) - 1)
			variables->text[variables->length++] = bytes[i];
	}
}

struct kineto_environment kineto_variables__end(struct kineto_variables *variables)
{
	variables->found.known = !variables->has_broken && !variables->length;
	return variables->found;
}

int kineto_environment__read(pid_t pid, struct kineto_environment *environment)
{
	struct kineto_variables variables = {0};
	char path[64], piece[PIECE];
	ssize_t n = 0;
	int fd;

	*environment = (struct kineto_environment){0};
	proc__path(pid, "environ", path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (unsigned int i = 0; i < PIECES_MAX; i++) {
		n = read(fd, piece, sizeof(piece));
		if (n <= 0)
			break;
		kineto_variables__push(&variables, piece, (size_t)n);
	}
	if (n < 0)
		n = -errno;
	close(fd);
	*environment = kineto_variables__end(&variables);
	return n < 0 ? (int)n : 0;
}
