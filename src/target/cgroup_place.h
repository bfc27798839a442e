/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a control group is in the hierarchy of cgroup v2, as BPF programs ask for it. */
#ifndef TARGET_CGROUP_PLACE_H
#define TARGET_CGROUP_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cgroup_place {
	uint64_t id;	/* bpf_get_current_cgroup_id() of a task in it; never 0 */
	uint32_t level; /* its depth; 0: the root */
};

/*
 * Finds the group by its path, below the place where cgroup v2 is mounted
 * ("user.slice", "/user.slice") or from there ("/sys/fs/cgroup/user.slice").
 * -ENOENT, -ENOTSUP (no cgroup v2 here, or not its root: levels cannot be told)
 * or another negative errno, with a line for a person in `err`.
 */
int cgroup_place__find(const char *path, struct cgroup_place *place, struct error *err);

/* Whether the process is in that group or in one below it; not where that cannot be told. */
bool cgroup_place__has(const struct cgroup_place *place, pid_t pid);

#endif
