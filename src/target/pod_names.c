// SPDX-License-Identifier: BSD-2-Clause
// Names of pods and containers, by those of their logs; see pod_names.h.
#include "target/pod_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HOST_ROOT "/proc/1/root"
#define ENTRIES_MAX 100000

DIR *pod_names__open(const char *path)
{
	char host[512];
	DIR *directory = NULL;
	int n = snprintf(host, sizeof(host), HOST_ROOT "%s", path);

	if (n > 0 && (size_t)n < sizeof(host))
		directory = opendir(host);
	return directory ? directory : opendir(path);
}

/* The next entry that is not hidden; NULL after the last one. */
static const char *next_entry(DIR *directory, unsigned int *seen)
{
	const struct dirent *entry;

	while ((entry = readdir(directory)) && ++*seen < ENTRIES_MAX)
		if (entry->d_name[0] != '.')
			return entry->d_name;
	return NULL;
}

static bool take(const char *start, const char *end, char *name, size_t size)
{
	size_t length = (size_t)(end - start);

	if (start > end || length >= size)
		return false;
	memcpy(name, start, length);
	name[length] = '\0';
	return true;
}

/* "NAMESPACE_POD_UID": none of the three contains a _. */
static bool take_pod(const char *entry, const char *uid, struct workload *workload)
{
	const char *name = strchr(entry, '_'), *end = strrchr(entry, '_');

	if (!name || name == end || strcasecmp(end + 1, uid) != 0)
		return false;
	return take(entry, name, workload->namespace, sizeof(workload->namespace)) &&
	       take(name + 1, end, workload->pod, sizeof(workload->pod));
}

/* The name of the only container of the pod whose directory this is. */
static void take_only_container(int directory, const char *pod, struct workload *workload)
{
	int fd = openat(directory, pod, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *containers = fd < 0 ? NULL : fdopendir(fd);
	unsigned int seen = 0, count = 0;
	const char *entry;

	if (!containers) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = next_entry(containers, &seen)) && ++count == 1)
		take(entry, entry + strlen(entry), workload->container,
		     sizeof(workload->container));
	if (count > 1)
		workload->container[0] = '\0';
	closedir(containers);
}

static void find_pod(const char *logs, const char *uid, struct workload *workload)
{
	DIR *pods = pod_names__open(logs);
	unsigned int seen = 0;
	const char *entry;

	while (pods && (entry = next_entry(pods, &seen)))
		if (take_pod(entry, uid, workload)) {
			take_only_container(dirfd(pods), entry, workload);
			break;
		}
	if (pods)
		closedir(pods);
}

/* "POD_NAMESPACE_CONTAINER-ID.log" */
static bool take_container(const char *entry, const char *id, struct workload *workload)
{
	const char *name = strrchr(entry, '_'), *end = strrchr(entry, '-');

	if (!name || !end || end < name || strncmp(end + 1, id, CONTAINER_ID_LENGTH) != 0 ||
	    strcmp(end + 1 + CONTAINER_ID_LENGTH, ".log") != 0)
		return false;
	return take(name + 1, end, workload->container, sizeof(workload->container));
}

static void find_container(const char *logs, const char *id, struct workload *workload)
{
	DIR *containers = pod_names__open(logs);
	unsigned int seen = 0;
	const char *entry;

	while (containers && (entry = next_entry(containers, &seen)))
		if (take_container(entry, id, workload))
			break;
	if (containers)
		closedir(containers);
}

void pod_names__find(const struct pod_logs *logs, const struct cgroup_names *names,
		     struct workload *workload)
{
	if (!names->pod[0])
		return;
	find_pod(logs->pods ? logs->pods : POD_LOGS, names->pod, workload);
	if (workload->pod[0] && names->container[0] && !workload->container[0])
		find_container(logs->containers ? logs->containers : CONTAINER_LOGS,
			       names->container, workload);
}
