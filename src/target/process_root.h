/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding files in the file system that a process sees, with no way out of its
 * root directory, and without waiting for a program that serves files.
 */
#ifndef TARGET_PROCESS_ROOT_H
#define TARGET_PROCESS_ROOT_H

#include <sys/types.h>

struct process_root;
struct statx;

/*
 * Opens the root directory of process `pid`; 0 is gpuprobe's own. 0 or a
 * negative errno, -ESRCH where there is no such process.
 */
int process_root__open(pid_t pid, struct process_root **out);
void process_root__free(struct process_root *root);

/*
 * Finds `path` below it. Symbolic links are followed as the process would, and
 * ".." at the root stays there; links of /proc that lead elsewhere by magic are
 * taken by their text. Returns a descriptor (O_PATH: nothing has been opened
 * yet) and fills `status` as mounts__check does, or a negative errno: -EREMOTE
 * where the way leads over a FUSE file system, others of mounts__check, -ELOOP, -ENAMETOOLONG, those of
 * open(2).
 */
int process_root__find(struct process_root *root, const char *path, struct statx *status);

#endif
