// SPDX-License-Identifier: BSD-2-Clause
// The user who called gpuprobe; see invoker.h.
#include "privilege/invoker.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "privilege/capabilities.h"

/* A variable that sudo sets for its program, with root's value and the caller's. */
struct identity_variable {
	const char *name, *roots, *callers;
};

/* Returns -ENOENT if the variable is not set, -EINVAL if it is not a user or group id. */
static long number_in_environment(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text || !*text)
		return -ENOENT;
	value = strtol(text, &end, 10);
	return *end || value < 0 || value >= UINT32_MAX ? -EINVAL : value;
}

/* A user may have several names: prefer the one that sudo gives if it belongs to the uid. */
static const struct passwd *find_user(uid_t uid)
{
	const char *name = getenv("SUDO_USER");
	const struct passwd *user = name && *name ? getpwnam(name) : NULL;

	return user && user->pw_uid == uid ? user : getpwuid(uid);
}

/* Variables that the caller has set for root on purpose (sudo -E, --set-home) stay. */
static int set_variables(const struct passwd *user, const struct passwd *root)
{
	const struct identity_variable variables[] = {
		{"HOME", root->pw_dir, user->pw_dir},
		{"USER", root->pw_name, user->pw_name},
		{"LOGNAME", root->pw_name, user->pw_name},
		{"SHELL", root->pw_shell, user->pw_shell},
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const struct identity_variable *variable = &variables[i];
		const char *value = getenv(variable->name);

		if (value && !strcmp(value, variable->roots) && *variable->callers &&
		    setenv(variable->name, variable->callers, 1))
			return -errno;
	}
	return 0;
}

/* The entries are copied because each look-up overwrites the previous one. */
static int take_variables(const struct passwd *user)
{
	struct passwd own = *user;
	const struct passwd *root;
	int ret = -ENOMEM;

	own.pw_name = strdup(user->pw_name);
	own.pw_dir = strdup(user->pw_dir);
	own.pw_shell = strdup(user->pw_shell);
	if (own.pw_name && own.pw_dir && own.pw_shell) {
		root = getpwuid(0);
		ret = root ? set_variables(&own, root) : 0;
	}
	free(own.pw_name);
	free(own.pw_dir);
	free(own.pw_shell);
	return ret;
}

static int take_ids(uid_t uid, gid_t gid)
{
	return setresgid(gid, gid, gid) || setresuid(uid, uid, uid) ? -errno : 0;
}

static int become_sudo_invoker(void)
{
	long uid = number_in_environment("SUDO_UID"), gid = number_in_environment("SUDO_GID");
	const struct passwd *user;
	int ret;

	if (uid == -EINVAL || gid == -EINVAL)
		return -EINVAL;
	if (uid < 0 || gid < 0)
		return 0;
	user = find_user((uid_t)uid);
	if (user ? initgroups(user->pw_name, (gid_t)gid) : setgroups(0, NULL))
		return -errno;
	ret = uid && user ? take_variables(user) : 0;
	return ret ? ret : take_ids((uid_t)uid, (gid_t)gid);
}

static int drop_inherited(void)
{
	cap_value_t used[CAPABILITY_USES];
	cap_t caps = cap_get_proc();
	int ret = 0;

	if (!caps)
		return -errno;
	for (size_t i = 0; i < CAPABILITY_USES; i++)
		used[i] = capability_uses[i].number;
	if (cap_reset_ambient() ||
	    cap_set_flag(caps, CAP_INHERITABLE, CAPABILITY_USES, used, CAP_CLEAR) ||
	    cap_set_proc(caps))
		ret = -errno;
	cap_free(caps);
	return ret;
}

/* Only root's environment is trusted: anyone can start a setuid file with any environment. */
static bool believes_environment(void)
{
	return !getuid() && !geteuid() && getgid() == getegid();
}

int invoker__check(struct error *err)
{
	static const char *const names[] = {"SUDO_UID", "SUDO_GID"};

	for (size_t i = 0; i < 2 && believes_environment(); i++)
		if (number_in_environment(names[i]) == -EINVAL)
			return error__set(
				err, -EINVAL,
				"%s is '%.40s', which is not the number of a %s: unset it, "
				"or run gpuprobe with sudo",
				names[i], getenv(names[i]), i ? "group" : "user");
	return 0;
}

int invoker__become(void)
{
	uid_t real = getuid(), effective = geteuid();
	int ret = 0;

	if (real != effective || getgid() != getegid())
		ret = take_ids(real, getgid());
	else if (believes_environment())
		ret = become_sudo_invoker();
	return ret ? ret : drop_inherited();
}
