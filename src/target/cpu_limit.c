// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long a control group was throttled; see cpu_limit.h. Version 2 is mounted at /sys/fs/cgroup,
 * or in /unified there if version 1 is; version 1 names a hierarchy by its controllers, in either
 * order.
 */
#include "target/cpu_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/text_file.h"

#define TEXT_SIZE 8192 /* of a cpu.stat, or of /proc/PID/cgroup; longer texts are cut */
#define ROOT "/sys/fs/cgroup"

/* Parses the line "NAME NUMBER"; the number is in units of `unit_ns` nanoseconds. */
static int find_number(const char *text, const char *name, uint64_t unit_ns, uint64_t *ns)
{
	size_t length = strlen(name);
	uint64_t number;

	for (const char *line = text; line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, name, length) != 0 || line[length] != ' ')
			continue;
		if (sscanf(line + length, "%" SCNu64, &number) != 1 ||
		    number > UINT64_MAX / unit_ns)
			return -EBADMSG;
		*ns = number * unit_ns;
		return 0;
	}
	return -ENODATA;
}

int cpu_limit__parse(const char *text, uint64_t *ns)
{
	int ret = find_number(text, "throttled_usec", 1000, ns);

	return ret == -ENODATA ? find_number(text, "throttled_time", 1, ns) : ret;
}

struct search {
	int ret; /* the result so far */
	uint64_t ns;
};

static void look_at_group(const char *folder, struct search *search)
{
	char path[PATH_MAX], text[TEXT_SIZE];
	uint64_t ns;

	if (snprintf(path, sizeof(path), "%s/cpu.stat", folder) >= (int)sizeof(path))
		return;
	if (text_file__read("", path, text, sizeof(text)) || cpu_limit__parse(text, &ns))
		return;
	if (search->ret || ns > search->ns)
		search->ns = ns;
	search->ret = 0;
}

/* Reads the group of a path and its ancestors. */
static void look_up(const char *mount, const char *path, struct search *search)
{
	char folder[PATH_MAX - 16];

	if (strstr(path, "..") ||
	    (size_t)snprintf(folder, sizeof(folder), "%s%s", mount, path) >= sizeof(folder))
		return;
	for (char *end = folder + strlen(folder); end && end >= folder + strlen(mount);
	     end = strrchr(folder, '/')) {
		*end = '\0';
		look_at_group(folder, search);
	}
}

static bool has_controller(const char *list, const char *end)
{
	return (end - list == 3 && !strncmp(list, "cpu", 3)) || !strncmp(list, "cpu,", 4) ||
	       (end - list > 4 && !strncmp(end - 4, ",cpu", 4));
}

/* Parses "NUMBER:CONTROLLERS:PATH". */
static void look_at_line(const char *line, struct search *search)
{
	const char *list = strchr(line, ':'), *end = list ? strchr(list + 1, ':') : NULL;
	char mount[64];

	if (!end)
		return;
	list++;
	if (list == end) {
		look_up(ROOT, end + 1, search);
		look_up(ROOT "/unified", end + 1, search);
	} else if (has_controller(list, end) && end - list < 32) {
		snprintf(mount, sizeof(mount), ROOT "/%.*s", (int)(end - list), list);
		look_up(mount, end + 1, search);
	}
}

int cpu_limit__throttled(pid_t pid, uint64_t *ns)
{
	struct search search = {.ret = -ENODATA};
	char path[64], text[TEXT_SIZE], *save = NULL;
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	ret = text_file__read("", path, text, sizeof(text));
	if (ret)
		return ret;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		look_at_line(line, &search);
	if (!search.ret)
		*ns = search.ns;
	return search.ret;
}
