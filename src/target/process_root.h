/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds files in the file system that a process sees, without leaving its root directory, and
 * without waiting for a program that serves files.
 */
#ifndef TARGET_PROCESS_ROOT_H
#define TARGET_PROCESS_ROOT_H

#include <sys/types.h>

struct process_root;
struct statx;

/*
 * Opens the root directory of process `pid`; 0 is gpuprobe's own. Returns 0 or a negative errno,
 * -ESRCH if there is no such process.
 */
int process_root__open(pid_t pid, struct process_root **out);
void process_root__free(struct process_root *root);

/*
 * Finds `path` below the root. It follows symbolic links as the process would, and ".." at the root
 * stays there; magic links of /proc are followed by their text. Returns a descriptor (O_PATH:
 * nothing has been opened yet) and fills `status` as mounts__check does, or a negative errno:
 * -EREMOTE if the path crosses a FUSE file system, others of mounts__check, -ELOOP, -ENAMETOOLONG,
 * those of open(2).
 */
int process_root__find(struct process_root *root, const char *path, struct statx *status);

#endif
