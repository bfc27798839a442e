/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The container and the pod of a process, from the names of its control groups: Docker, containerd,
 * CRI-O, Podman and nerdctl, on cgroup v1 and v2, with systemd's units or plain directories. Anyone
 * who may create control groups may name them like this: the results are well formed, but not
 * trustworthy.
 */
#ifndef TARGET_CGROUP_H
#define TARGET_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_ID_LENGTH 64
#define POD_UID_LENGTH 36

struct cgroup_names {
	char container[CONTAINER_ID_LENGTH + 1]; /* 64 lower-case hex digits; empty if in none */
	char pod[POD_UID_LENGTH + 1];		 /* with dashes, or a static pod's 32 hex digits */
};

/*
 * Parses the text of /proc/PID/cgroup. Takes the innermost container, and the pod around it.
 * Ignores names that are not well formed.
 */
void cgroup__parse(const char *text, struct cgroup_names *names);

/* Whether the text is a UUID in lower case, with dashes or with _ in place of them. */
bool cgroup__is_uid(const char *text, size_t length);

/*
 * Reads /proc/PID/cgroup as a text, malloc. Returns 0, -ESRCH, -ENOMEM, -EFBIG for a text beyond
 * 64 KiB, or another negative errno; *text is NULL unless it returns 0. Paths are as seen from
 * gpuprobe's own cgroup namespace, in which its own container has no name.
 */
int cgroup__text(pid_t pid, char **text);

/*
 * Reads /proc/PID/cgroup and parses it. Returns 0 or an error of cgroup__text; *names is empty
 * unless it returns 0.
 */
int cgroup__read(pid_t pid, struct cgroup_names *names);

/*
 * The path of a process's control group: in the unified hierarchy if it is in one, otherwise in the
 * first one listed. The path is raw: escape it before printing. malloc; NULL if it cannot be read,
 * or if out of memory.
 */
char *cgroup__path(pid_t pid);

#endif
