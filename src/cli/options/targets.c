// SPDX-License-Identifier: BSD-2-Clause
// Collects what to watch from a command line, see targets.h.
#include "cli/options/targets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/options/arguments.h"

int targets__add_pid(struct targets *targets, const char *text, struct error *err)
{
	unsigned long pid;
	int ret = arguments__number("-p, --pid", text, 1, INT_MAX, &pid, err);

	if (ret)
		return ret;
	if (ARRAY_APPEND(targets->pids, targets->pid_count, (pid_t)pid))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

int targets__check_library(const char *path, struct error *err)
{
	return *path ? 0 : error__set(err, -EINVAL, "the path of a library is empty: give a file");
}

int targets__library_error(int ret, struct error *err)
{
	struct error reason = *err;

	if (ret != -ENOENT && ret != -ENOEXEC && ret != -EACCES && ret != -ENOTDIR &&
	    ret != -EISDIR)
		return ret;
	return error__set(err, ret,
			  "%s; give --libcuda-path and --libcudart-path the file of such a library",
			  reason.text);
}

int targets__add_library(struct targets *targets, const char *path, struct error *err)
{
	int ret = targets__check_library(path, err);

	return ret ? ret :
		     arguments__append(&targets->libraries, &targets->library_count, path, err);
}

int targets__take_command(struct targets *targets, int argc, char **argv, const char *program,
			  struct error *err)
{
	if (optind < argc && strcmp(argv[optind - 1], "--"))
		return error__set(err, -EINVAL,
				  "unexpected '%.100s': put -- before a COMMAND, -p before a pid, "
				  "see %s --help",
				  argv[optind], program);
	if (optind < argc)
		targets->command = argv + optind;
	else if (argc > 1 && !strcmp(argv[argc - 1], "--"))
		return error__set(err, -EINVAL, "no COMMAND after --");
	if (targets->command && targets->pid_count)
		return error__set(err, -EINVAL,
				  "--pid and a COMMAND do not go together: choose one");
	return 0;
}

struct targets_text targets__text(const struct targets *targets)
{
	struct targets_text text;
	size_t size = sizeof(text.text), length;

	if (targets->command)
		snprintf(text.text, size, "%.100s and its descendants", targets->command[0]);
	else if (targets->pid_count == 1)
		snprintf(text.text, size, "process %d and its children", targets->pids[0]);
	else if (targets->pid_count)
		snprintf(text.text, size, "the %zu processes of -p and their children",
			 targets->pid_count);
	else
		snprintf(text.text, size, "the whole machine");
	length = strlen(text.text);
	if (process_filter__is_set(&targets->filter))
		snprintf(text.text + length, size - length, ", only %s",
			 process_filter__text(&targets->filter).text);
	return text;
}

void targets__clear(struct targets *targets)
{
	free(targets->pids);
	free(targets->libraries);
	*targets = (struct targets){0};
}
