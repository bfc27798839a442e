/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The container and the pod that a process runs in, told by the names of its
 * control groups: Docker, containerd, CRI-O, Podman and nerdctl, on cgroup v1
 * and v2, with systemd's units or plain directories. Whoever may make control
 * groups may name them so: what is found is well formed, no more.
 */
#ifndef TARGET_CGROUP_H
#define TARGET_CGROUP_H

#include <sys/types.h>

#define CONTAINER_ID_LENGTH 64
#define POD_UID_LENGTH 36

struct cgroup_names {
	char container[CONTAINER_ID_LENGTH + 1]; /* 64 lower-case hex digits; empty: in none */
	char pod[POD_UID_LENGTH + 1];		 /* with dashes, or 32 hex digits of a static pod; empty: in none */
};

/*
 * Reads them from the text of /proc/PID/cgroup. The innermost container
 * counts, and the pod around it. Anything that is not well formed is no name.
 */
void cgroup__parse(const char *text, struct cgroup_names *names);

/*
 * Reads /proc/PID/cgroup. Returns 0, -ESRCH, -EFBIG for a text beyond 64 KiB,
 * or another negative errno; *names is empty unless it returns 0. As gpuprobe's
 * own cgroup namespace shows the names: its own container has none there.
 */
int cgroup__read(pid_t pid, struct cgroup_names *names);

/*
 * The path of a process's control group, of the unified hierarchy where it is
 * in one, else of the first that is named; raw: escape before printing. malloc;
 * NULL where there is none to be read, or without memory.
 */
char *cgroup__path(pid_t pid);

#endif
