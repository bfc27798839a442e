// SPDX-License-Identifier: BSD-2-Clause
// The caller's permissions on files; see file_rights.h.
#include "privilege/file_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <unistd.h>

/*
 * setfsuid and setfsgid report no failure, only the previous id. An invalid id changes nothing and
 * returns the current one.
 */
static uid_t user_now(void)
{
	return (uid_t)setfsuid((uid_t)-1);
}

static gid_t group_now(void)
{
	return (gid_t)setfsgid((gid_t)-1);
}

/* Whether the calling thread's capabilities may differ from the caller's. root's are its own. */
static bool has_others_capabilities(void)
{
	return getuid() != 0;
}

static int read_capabilities(cap_user_data_t sets)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return capget(&header, sets) ? -errno : 0;
}

static int set_effective(const struct file_rights *before, uint32_t low, uint32_t high)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	memcpy(sets, before->capabilities, sizeof(sets));
	sets[0].effective = low;
	sets[1].effective = high;
	return capset(&header, sets) ? -errno : 0;
}

/*
 * Ambient capabilities are the caller's own: every program that the caller runs has them. Only the
 * one that gives no permission on files stays, because somebody may have lent the others to
 * gpuprobe alone.
 */
static int keep_invokers_capabilities(const struct file_rights *before)
{
	uint32_t lent = cap_get_ambient(CAP_NET_BIND_SERVICE) == 1 ? 1u << CAP_NET_BIND_SERVICE : 0;

	return set_effective(before, before->capabilities[0].effective & lent, 0);
}

static bool are_others(void)
{
	return getuid() != geteuid() || getgid() != getegid() || has_others_capabilities();
}

/*
 * The supplementary groups are the caller's already. On a change to a user other than 0 the kernel
 * removes the capabilities for files (CAP_DAC_OVERRIDE and the like) from the effective set, and
 * restores them on a change back to 0. Capabilities that come from gpuprobe's file must be removed
 * explicitly.
 */
int file_rights__take_invokers(struct file_rights *before)
{
	int ret;

	*before = (struct file_rights){.changed = are_others()};
	if (!before->changed)
		return 0;
	ret = read_capabilities(before->capabilities);
	if (ret) {
		before->changed = false;
		return ret;
	}
	before->group = (gid_t)setfsgid(getgid());
	before->user = (uid_t)setfsuid(getuid());
	if (user_now() != getuid() || group_now() != getgid())
		ret = -EPERM;
	else if (has_others_capabilities())
		ret = keep_invokers_capabilities(before);
	if (ret)
		file_rights__give_back(before);
	return ret;
}

void file_rights__give_back(const struct file_rights *before)
{
	int code = errno;

	if (before->changed) {
		setfsuid(before->user);
		setfsgid(before->group);
		set_effective(before, before->capabilities[0].effective,
			      before->capabilities[1].effective);
	}
	errno = code;
}

int file_rights__open(int directory, const char *path, int flags, mode_t mode)
{
	struct file_rights before;
	int fd = file_rights__take_invokers(&before);

	if (fd)
		return fd;
	fd = openat(directory, path, flags, mode);
	if (fd < 0)
		fd = -errno;
	file_rights__give_back(&before);
	return fd;
}

int file_rights__open_to_read(const char *path)
{
	return file_rights__open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);
}
