// SPDX-License-Identifier: BSD-2-Clause
// Takes --comm, --uid, --cgroup, --container and --pod, see filter_options.h.
#include "cli/options/filter_options.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "cli/options/targets.h"
#include "target/user_name.h"

static int take_comm(const struct option_row *row, void *field, const char *text, struct error *err)
{
	if (!*text)
		return error__set(err, -EINVAL,
				  "--comm '': give the name of a process, as ps -e shows it");
	return option__once(row, field, text, err);
}

static int find_user(const struct option_row *row, const char *text, uint32_t *uid,
		     struct error *err)
{
	if (*text && strspn(text, "0123456789") == strlen(text))
		return option__unsigned(row, uid, text, err);
	if (user_name__to_uid(text, uid))
		return error__set(err, -EINVAL,
				  "--uid '%.100s': no user has this name; give a number or a name",
				  text);
	return 0;
}

static int take_user(const struct option_row *row, void *field, const char *text, struct error *err)
{
	struct process_filter *filter = field;
	int ret = find_user(row, text, &filter->uid, err);

	return ret ? ret : option__once(row, &filter->user, text, err);
}

static int take_cgroup(const struct option_row *row, void *field, const char *text,
		       struct error *err)
{
	if (!*text)
		return error__set(err, -EINVAL,
				  "--cgroup '': give a control group's path: see systemd-cgls");
	return option__once(row, field, text, err);
}

static int take_container(const struct option_row *row, void *field, const char *text,
			  struct error *err)
{
	int ret = process_filter__check_container(text, err);

	return ret ? ret : option__once(row, field, text, err);
}

static int take_pod(const struct option_row *row, void *field, const char *text, struct error *err)
{
	int ret = process_filter__check_pod(text, err);

	return ret ? ret : option__once(row, field, text, err);
}

#define FIELD(member) .offset = offsetof(struct targets, filter.member)

const struct option_row filter_rows[] = {
	{"comm", 0, "NAME", "only processes of this name", take_comm, FIELD(comm)},
	{"uid", 0, "USER", "only this user's processes: a number or a name", take_user,
	 .offset = offsetof(struct targets, filter), .max = UINT32_MAX - 1},
	{"cgroup", 0, "PATH", "only this control group, below /sys/fs/cgroup (v2)", take_cgroup,
	 FIELD(cgroup)},
	{"container", 0, "ID", "only this container: its id, or 4 digits or more of it",
	 take_container, FIELD(container)},
	{"pod", 0, "NAME|UID", "only this pod: NAME, NAMESPACE/NAME or UID", take_pod, FIELD(pod)},
	{0},
};
