// SPDX-License-Identifier: BSD-2-Clause
// The pid namespaces that have a process; see pid_namespaces.h.
#include "target/pid_namespaces.h"

#include <errno.h>
#include <inttypes.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "target/proc.h"

/*
 * PROC_PID_INIT_INO of include/linux/proc_ns.h; part of the kernel's uapi as PID_NS_INIT_INO since
 * 6.18.
 */
#define FIRST_NAMESPACE UINT64_C(0xEFFFFFFC)

/* The /proc of another namespace only shows processes in and below that. */
static bool is_proc_of_first(void)
{
	struct pid_namespace own;

	return !proc__own_namespace(&own) && own.inode == FIRST_NAMESPACE && !own.depth;
}

/* Whether /proc is, or may be, mounted with an option that hides processes from some users. */
static bool is_hiding(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent entry;
	char line[4096];
	bool hides = !mounts;

	while (!hides && getmntent_r(mounts, &entry, line, sizeof(line)))
		hides = !strcmp(entry.mnt_dir, "/proc") &&
			(strcmp(entry.mnt_type, "proc") != 0 || hasmntopt(&entry, "hidepid"));
	if (mounts)
		endmntent(mounts);
	return hides;
}

/* Even if security modules hide a process's namespace, its depth is visible. */
static int read_depth(pid_t pid, uint64_t *number)
{
	*number = FIRST_NAMESPACE;
	if (!proc__depth(pid))
		return 0;
	return kill(pid, 0) && errno == ESRCH ? -ESRCH : -EACCES;
}

/*
 * Reads the namespace of a process. Returns 0, -ESRCH if it has ended, -EACCES if it is not
 * readable.
 */
static int read_number(pid_t pid, uint64_t *number)
{
	char path[64], link[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	length = readlink(path, link, sizeof(link) - 1);
	if (length < 0)
		return read_depth(pid, number);
	link[length] = '\0';
	return sscanf(link, "pid:[%" SCNu64 "]", number) == 1 ? 0 : -EACCES;
}

static int read_all(struct pid_namespaces *living, const struct pid_list *processes)
{
	for (size_t i = 0; i < processes->count; i++) {
		uint64_t number;
		int ret = read_number(processes->pids[i], &number);

		if (!ret && !pid_namespaces__has(living, number))
			ret = ARRAY_APPEND(living->numbers, living->count, number);
		if (ret && ret != -ESRCH)
			return ret;
	}
	return 0;
}

int pid_namespaces__read(struct pid_namespaces *living)
{
	struct pid_list processes;
	int ret;

	*living = (struct pid_namespaces){0};
	if (!is_proc_of_first())
		return -EXDEV;
	if (is_hiding())
		return -EACCES;
	ret = proc__list(&processes);
	if (ret)
		return ret;
	ret = read_all(living, &processes);
	pid_list__clear(&processes);
	if (ret)
		pid_namespaces__clear(living);
	return ret;
}

bool pid_namespaces__has(const struct pid_namespaces *living, uint64_t number)
{
	for (size_t i = 0; i < living->count; i++)
		if (living->numbers[i] == number)
			return true;
	return false;
}

void pid_namespaces__clear(struct pid_namespaces *living)
{
	free(living->numbers);
	*living = (struct pid_namespaces){0};
}
