// SPDX-License-Identifier: BSD-2-Clause
// Finds control groups by their paths; see cgroup_id.h.
#include "target/cgroup_id.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "target/cgroup.h"

/* Possible mounts of cgroup v2; on systems with cgroup v1 it may be mounted beside that. */
static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

static const char *find_mount(void)
{
	struct statfs info;

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++)
		if (!statfs(mounts[i], &info) && info.f_type == CGROUP2_SUPER_MAGIC)
			return mounts[i];
	return NULL;
}

/* Only the root of the hierarchy lacks cgroup.type; the root that a container sees has it. */
static bool is_root(const char *mount)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/cgroup.type", mount);
	return access(path, F_OK) != 0;
}

/* Returns the rest after `prefix` if that consists of whole path components, or NULL. */
static const char *below(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(path, prefix, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

static int read_id(const char *path, uint64_t *id)
{
	struct {
		struct file_handle handle;
		uint64_t id;
	} found = {.handle.handle_bytes = sizeof(found.id)};
	int mount;

	if (name_to_handle_at(AT_FDCWD, path, &found.handle, &mount, 0))
		return -errno;
	if (found.handle.handle_bytes != sizeof(found.id))
		return -ENOTSUP;
	*id = found.id; /* f_handle was written through it */
	return 0;
}

static int cannot(const char *path, int code, struct error *err)
{
	if (code == -ENOENT || code == -ENOTDIR)
		return error__set(err, code, "no control group '%.100s': see systemd-cgls", path);
	return error__set(err, code, "control group '%s': %s", path, strerror(-code));
}

int cgroup_id__find(const char *path, struct cgroup_id *cgroup, struct error *err)
{
	const char *mount = find_mount(), *inner;
	char full[PATH_MAX], real[PATH_MAX];
	int ret;

	if (!*path)
		return error__set(err, -EINVAL,
				  "the control group's path is empty: see systemd-cgls");
	if (!mount)
		return error__set(
			err, -ENOTSUP,
			"control group '%s': this machine has no cgroup v2 in /sys/fs/cgroup",
			path);
	if (!is_root(mount))
		return error__set(
			err, -ENOTSUP,
			"control group '%s': only a part of cgroup v2 is visible here; run "
			"gpuprobe in the host's cgroup namespace",
			path);
	inner = below(path, mount);
	if ((size_t)snprintf(full, sizeof(full), "%s/%s", mount, inner ? inner : path) >=
	    sizeof(full))
		return cannot(path, -ENAMETOOLONG, err);
	if (!realpath(full, real))
		return cannot(path, -errno, err);
	inner = below(real, mount);
	if (!inner)
		return cannot(path, -ENOENT, err);
	cgroup->level = 0;
	for (const char *at = inner; *at; at++)
		cgroup->level += *at == '/';
	ret = read_id(real, &cgroup->id);
	return ret ? cannot(path, ret, err) : 0;
}

/* Cuts `path` to its ancestor at `level`. Returns false if it is not that deep. */
static bool cut_path(char *path, uint32_t level)
{
	uint32_t count = 0;
	char *at = path;

	for (; *at; at++)
		if (*at == '/' && at[1] && ++count > level)
			break;
	*at = '\0';
	return count >= level;
}

bool cgroup_id__contains(const struct cgroup_id *cgroup, pid_t pid)
{
	char *path = cgroup__path(pid);
	struct cgroup_id around = {0};
	struct error err;
	bool has = path && cut_path(path, cgroup->level) &&
		   !cgroup_id__find(*path ? path : "/", &around, &err) && around.id == cgroup->id;

	free(path);
	return has;
}
