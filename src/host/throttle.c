// SPDX-License-Identifier: BSD-2-Clause
/*
 * Limits of CPU time by control groups, see throttle.h. Version 2 is mounted at /sys/fs/cgroup, or in /unified where
 * version 1 has that; of version 1 the hierarchy is named by its controllers, in either order.
 */
#include "host/throttle.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/text_file.h"

#define TEXT_SIZE 8192 /* of a cpu.stat, or of /proc/PID/cgroup: what follows is cut */
#define ROOT "/sys/fs/cgroup"

static bool number_of(const char *text, const char *name, uint64_t *number)
{
	size_t length = strlen(name);

	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		if (strncmp(line, name, length) != 0 || line[length] != ' ')
			continue;
		*number = strtoull(line + length + 1, NULL, 10);
		return true;
	}
	return false;
}

bool throttle__parse(const char *text, struct host_throttle *out)
{
	uint64_t time = 0;

	memset(out, 0, sizeof(*out));
	if (!number_of(text, "nr_periods", &out->periods) || !number_of(text, "nr_throttled", &out->throttled_periods))
		return false;
	if (number_of(text, "throttled_usec", &time))
		out->throttled_ns = time * 1000;
	else if (number_of(text, "throttled_time", &time))
		out->throttled_ns = time;
	/* Without a limit there are no periods. */
	out->known = out->periods > 0;
	return out->known;
}

/* Looks at the group of a path and those above it. */
static void look_up(const char *mount, const char *path, struct host_throttle *out)
{
	char name[PATH_MAX], text[TEXT_SIZE];
	struct host_throttle one;
	char *end;

	if (strstr(path, "..") || (size_t)snprintf(name, sizeof(name), "%s%s", mount, path) >= sizeof(name))
		return;
	for (end = name + strlen(name); end && end - name >= (long)strlen(mount); end = strrchr(name, '/')) {
		*end = '\0';
		if (strlen(name) + sizeof("/cpu.stat") > sizeof(name))
			return;
		memcpy(end, "/cpu.stat", sizeof("/cpu.stat"));
		if (!text_file__read("", name, text, sizeof(text)) && throttle__parse(text, &one) &&
		    (!out->known || one.throttled_ns > out->throttled_ns))
			*out = one;
		*end = '\0';
	}
}

static bool has_controller(const char *list, const char *end)
{
	return (end - list == 3 && !strncmp(list, "cpu", 3)) || !strncmp(list, "cpu,", 4) ||
	       (end - list > 4 && !strncmp(end - 4, ",cpu", 4));
}

/* "NUMBER:CONTROLLERS:PATH" */
static void look_at_line(const char *line, struct host_throttle *out)
{
	const char *list = strchr(line, ':'), *end = list ? strchr(list + 1, ':') : NULL;
	char mount[64];

	if (!end)
		return;
	list++;
	if (list == end) {
		look_up(ROOT, end + 1, out);
		look_up(ROOT "/unified", end + 1, out);
	} else if (has_controller(list, end) && end - list < 32) {
		snprintf(mount, sizeof(mount), ROOT "/%.*s", (int)(end - list), list);
		look_up(mount, end + 1, out);
	}
}

void throttle__read(pid_t pid, struct host_throttle *out)
{
	char path[64], text[TEXT_SIZE], *save = NULL;

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (text_file__read("", path, text, sizeof(text)))
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		look_at_line(line, out);
}

void throttle__since(struct host_throttle *throttle, const struct host_throttle *base)
{
	if (!throttle->known || !base->known || throttle->throttled_ns < base->throttled_ns)
		return;
	throttle->periods -= base->periods;
	throttle->throttled_periods -= base->throttled_periods;
	throttle->throttled_ns -= base->throttled_ns;
}
