// SPDX-License-Identifier: BSD-2-Clause
// How long a control group was kept from running, see cpu_limit.h.
#include "target/cpu_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/cgroup.h"

#define STAT_SIZE 4096

int cpu_limit__parse(const char *text, uint64_t *ns)
{
	static const char name[] = "throttled_usec ";
	uint64_t us;

	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, name, strlen(name)))
			continue;
		if (sscanf(line + strlen(name), "%" SCNu64, &us) != 1 || us > UINT64_MAX / 1000)
			return -EBADMSG;
		*ns = us * 1000;
		return 0;
	}
	return -ENODATA;
}

static int read_stat(const char *group, char text[STAT_SIZE])
{
	char path[STAT_SIZE];
	size_t size;
	FILE *in;

	if (snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.stat", group) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	in = fopen(path, "re");
	if (!in)
		return -errno;
	size = fread(text, 1, STAT_SIZE - 1, in);
	text[size] = 0;
	fclose(in);
	return 0;
}

int cpu_limit__throttled(pid_t pid, uint64_t *ns)
{
	char *group = cgroup__path(pid), text[STAT_SIZE];
	int ret;

	if (!group)
		return -ENOENT;
	ret = strstr(group, "..") ? -EINVAL : read_stat(group, text);
	free(group);
	return ret ? ret : cpu_limit__parse(text, ns);
}
