// SPDX-License-Identifier: BSD-2-Clause
// Finds a library of gpuprobe's and names it to COMMAND, see injected_library.h.
#include "cli/session/injected_library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int find_library(const char *file, char path[PATH_MAX])
{
	static const char *const places[] = {"", "/../lib/gpuprobe"};
	char self[PATH_MAX], place[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	while (length > 0 && self[length - 1] != '/')
		length--;
	if (length <= 0)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(place, sizeof(place), "%.*s%s/%s", (int)length - 1, self, places[i], file);
		if (realpath(place, path))
			return 0;
	}
	return -ENOENT;
}

int injected_library__set(const char *variable, const char *file, const char *lacking,
			  struct error *err)
{
	char path[PATH_MAX];

	if (getenv(variable))
		return error__set(err, -EEXIST,
				  "%s: %s is set already, so COMMAND gets that library; unset it "
				  "to have %s",
				  lacking, variable, lacking + sizeof("no ") - 1);
	if (find_library(file, path))
		return error__set(err, -ENOENT,
				  "%s: %s is neither beside gpuprobe nor in ../lib/gpuprobe; "
				  "install gpuprobe again",
				  lacking, file);
	return setenv(variable, path, 1) ? error__set(err, -ENOMEM, "out of memory") : 0;
}
