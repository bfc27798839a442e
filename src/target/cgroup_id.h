/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a control group is in the cgroup v2 hierarchy, in the form that BPF programs need. */
#ifndef TARGET_CGROUP_ID_H
#define TARGET_CGROUP_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cgroup_id {
	uint64_t id;	/* bpf_get_current_cgroup_id() for a task in it; never 0 */
	uint32_t level; /* its depth; 0: the root */
};

/*
 * Finds the group by its path, relative to the mount of cgroup v2 ("user.slice", "/user.slice") or
 * absolute ("/sys/fs/cgroup/user.slice"). Returns -ENOENT, -ENOTSUP (no cgroup v2 here, or its root
 * is not visible, so that levels are unknown) or another negative errno, with a message in `err`.
 */
int cgroup_id__find(const char *path, struct cgroup_id *cgroup, struct error *err);

/* Whether the process is in that group or in one below it; false if unknown. */
bool cgroup_id__contains(const struct cgroup_id *cgroup, pid_t pid);

#endif
