// SPDX-License-Identifier: BSD-2-Clause
// The caller's rights on files, see file_rights.h.
#include "privilege/file_rights.h"

#include <errno.h>
#include <sys/fsuid.h>
#include <unistd.h>

/* They tell of no failure, only what was set before: an impossible one changes nothing and tells what is set now. */
static uid_t user_now(void)
{
	return (uid_t)setfsuid((uid_t)-1);
}

static gid_t group_now(void)
{
	return (gid_t)setfsgid((gid_t)-1);
}

bool file_rights__are_others(void)
{
	return getuid() != geteuid() || getgid() != getegid();
}

/*
 * The supplementary groups are the caller's already. With a user that is not 0 the kernel takes the capabilities for
 * files (CAP_DAC_OVERRIDE and its like) out of the effective ones, and puts them back with 0.
 */
int file_rights__take_callers(struct file_rights *before)
{
	*before = (struct file_rights){.changed = file_rights__are_others()};
	if (!before->changed)
		return 0;
	before->group = (gid_t)setfsgid(getgid());
	before->user = (uid_t)setfsuid(getuid());
	if (user_now() == getuid() && group_now() == getgid())
		return 0;
	file_rights__give_back(before);
	return -EPERM;
}

void file_rights__give_back(const struct file_rights *before)
{
	int code = errno;

	if (before->changed) {
		setfsuid(before->user);
		setfsgid(before->group);
	}
	errno = code;
}
