// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of control groups; see cgroup.h. A line of /proc/PID/cgroup is "NUMBER:CONTROLLERS:PATH"
 * (cgroups(7)); a container runtime chooses the last components of the path. With KUBE for
 * kubepods.slice/kubepods-burstable.slice and POD for kubepods-burstable-podUID.slice:
 *
 *   /docker/ID                             Docker, plain
 *   /system.slice/docker-ID.scope          Docker, systemd
 *   /kubepods/burstable/podUID/ID          kubelet, plain
 *   /../../podUID/ID                       the same from another pod's cgroup namespace
 *   /KUBE/POD/cri-containerd-ID.scope      kubelet, systemd; UID has _ for -
 *   /POD:cri-containerd:ID                 containerd without systemd's driver
 *   /UNIT.service/libpod-payload-ID        Podman below a unit's group (--cgroups=split)
 */
#include "target/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/proc.h"

#define MAX_TEXT (64 * 1024)
#define STATIC_POD_LENGTH 32 /* of the hash that a static pod has in place of a UID */
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* A part of the text, not terminated. */
struct part {
	const char *start;
	size_t length;
};

static bool is_hex(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!strchr("0123456789abcdef", text[i]) || !text[i])
			return false;
	return true;
}

static bool strip_end(struct part *part, const char *end)
{
	size_t length = strlen(end);

	if (part->length < length || memcmp(part->start + part->length - length, end, length))
		return false;
	part->length -= length;
	return true;
}

static bool strip_start(struct part *part, const char *start)
{
	size_t length = strlen(start);

	if (part->length < length || memcmp(part->start, start, length))
		return false;
	part->start += length;
	part->length -= length;
	return true;
}

/* Returns the text after the last `separator`, or all of it. */
static struct part after_last(struct part part, char separator)
{
	const char *found = memrchr(part.start, separator, part.length);

	if (!found)
		return part;
	found++;
	return (struct part){.start = found, .length = part.length - (size_t)(found - part.start)};
}

static bool take_container(struct part part, char *container)
{
	static const char *const runtimes[] = {"docker-",	  "cri-containerd-", "crio-",
					       "libpod-payload-", "libpod-",	     "nerdctl-"};

	strip_end(&part, ".scope");
	part = after_last(part, ':');
	for (size_t i = 0; i < COUNT(runtimes); i++)
		if (strip_start(&part, runtimes[i]))
			break;
	if (part.length != CONTAINER_ID_LENGTH || !is_hex(part.start, part.length))
		return false;
	memcpy(container, part.start, part.length);
	container[part.length] = '\0';
	return true;
}

/* A UID is 8-4-4-4-12 hex digits; systemd's units have _ in place of the dashes. */
bool cgroup__is_uid(const char *text, size_t length)
{
	if (length != POD_UID_LENGTH)
		return false;
	for (size_t i = 0; i < POD_UID_LENGTH; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' && text[i] != '_' : !is_hex(&text[i], 1))
			return false;
	}
	return true;
}

static bool take_uid(struct part part, char *pod)
{
	if (part.length == STATIC_POD_LENGTH ? !is_hex(part.start, part.length) :
					       !cgroup__is_uid(part.start, part.length))
		return false;
	for (size_t i = 0; i < part.length; i++)
		pod[i] = part.start[i] == '_' ? '-' : part.start[i];
	pod[part.length] = '\0';
	return true;
}

static bool contains(struct part part, const char *word)
{
	return memmem(part.start, part.length, word, strlen(word));
}

/* `below`: an earlier part was the kubelet's. */
static bool take_pod(struct part part, bool below, char *pod)
{
	const char *colon = memchr(part.start, ':', part.length);

	if (colon)
		part.length = (size_t)(colon - part.start);
	if (strip_end(&part, ".slice")) {
		if (!contains(part, "kubepods"))
			return false;
		part = after_last(part, '-');
	} else if (!below) {
		return false;
	}
	return strip_start(&part, "pod") && take_uid(part, pod);
}

/*
 * A part is a pod's if it is below the kubelet's or directly above a container. The root of a
 * cgroup namespace has no name.
 */
static void parse_path(struct part path, struct cgroup_names *names)
{
	const char *end = path.start + path.length;
	char above[POD_UID_LENGTH + 1] = "";
	bool kubelet = false;

	for (const char *at = path.start; at < end;) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		struct part part = {.start = at, .length = (size_t)((slash ? slash : end) - at)};

		take_pod(part, kubelet, names->pod);
		if (take_container(part, names->container) && *above)
			memcpy(names->pod, above, sizeof(names->pod));
		if (!take_pod(part, true, above))
			*above = '\0';
		kubelet = kubelet || contains(part, "kubepods");
		at += part.length + 1;
	}
}

static void parse_line(struct part line, struct cgroup_names *names)
{
	const char *end = line.start + line.length;
	const char *colon = memchr(line.start, ':', line.length);
	const char *path = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;

	if (path)
		parse_path((struct part){.start = path + 1, .length = (size_t)(end - path - 1)},
			   names);
}

void cgroup__parse(const char *text, struct cgroup_names *names)
{
	*names = (struct cgroup_names){0};
	/* Hierarchies of v1 name the same group; the first one that names a container is enough. */
	while (*text && !names->container[0]) {
		size_t length = strcspn(text, "\n");

		parse_line((struct part){.start = text, .length = length}, names);
		text += length + (text[length] == '\n');
	}
}

/* Reads the whole file as text. Returns 0 or a negative errno. */
static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	do {
		n = read(fd, text + length, size - length);
		if (n > 0)
			length += (size_t)n;
	} while ((n > 0 && length < size) || (n < 0 && errno == EINTR));
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	if (length == size)
		return -EFBIG;
	text[length] = '\0';
	return 0;
}

int cgroup__text(pid_t pid, char **text)
{
	char path[64];
	int ret;

	*text = malloc(MAX_TEXT);
	if (!*text)
		return -ENOMEM;
	proc__path(pid, "cgroup", path, sizeof(path));
	ret = read_text(path, *text, MAX_TEXT);
	if (ret) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

int cgroup__read(pid_t pid, struct cgroup_names *names)
{
	char *text = NULL;
	int ret = cgroup__text(pid, &text);

	*names = (struct cgroup_names){0};
	if (ret || !text)
		return ret;
	cgroup__parse(text, names);
	free(text);
	return 0;
}

/* Parses "0::/system.slice/x.service", or for v1 "4:cpu,cpuacct:/system.slice/x.service". */
static struct part unified_path(const char *text)
{
	struct part found = {0};

	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch): the text is whole */
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *end = line + strcspn(line, "\n");
		const char *colon = memchr(line, ':', (size_t)(end - line));
		const char *path = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;
		bool is_unified = strncmp(line, "0::", 3) == 0;

		if (path && (!found.start || is_unified))
			found = (struct part){.start = path + 1,
					      .length = (size_t)(end - path - 1)};
		if (is_unified)
			break;
	}
	return found;
}

char *cgroup__path(pid_t pid)
{
	struct part path;
	char *text, *copy;

	if (cgroup__text(pid, &text))
		return NULL;
	path = unified_path(text);
	copy = path.start ? strndup(path.start, path.length) : NULL;
	free(text);
	return copy;
}
