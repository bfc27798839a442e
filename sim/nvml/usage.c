// SPDX-License-Identifier: BSD-2-Clause
/* Searches for processes that use the simulated devices. */
#include "nvml/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_usage(int directory, const char *name, struct usage *usage)
{
	char target[64];
	ssize_t length = readlinkat(directory, name, target, sizeof(target) - 1);
	bool done;
	int fd;

	if (length < 0)
		return false;
	target[length] = '\0';
	if (strcmp(target, "/memfd:" USAGE_NAME " (deleted)"))
		return false;
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = read(fd, usage, sizeof(*usage)) == sizeof(*usage) && usage->magic == USAGE_MAGIC;
	close(fd);
	return done;
}

static bool find_page(pid_t pid, struct usage *usage)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	while (files && !found && (entry = readdir(files)) != NULL)
		found = read_usage(dirfd(files), entry->d_name, usage);
	if (files)
		closedir(files);
	return found;
}

void usage__for_each(int (*found)(pid_t pid, const struct usage *usage, void *context),
		     void *context)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	char machine[USAGE_MACHINE];
	struct usage usage;
	bool done = false;

	usage__machine(machine);
	while (processes && !done && (entry = readdir(processes)) != NULL) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && find_page(pid, &usage) &&
		    !memcmp(usage.machine, machine, sizeof(machine)))
			done = found(pid, &usage, context);
	}
	if (processes)
		closedir(processes);
}
