/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a process's own file system: opened for reading only where they are
 * regular files, without waiting for a FIFO's other end, and without a
 * symbolic link leading out of the process's root.
 */
#ifndef TARGET_ROOT_FILE_H
#define TARGET_ROOT_FILE_H

#include <sys/types.h>

/*
 * Opens `path` below the root of process `pid`; 0 is gpuprobe's own root.
 * Returns a file descriptor or a negative errno: -ESRCH, -ENOENT, -EINVAL for
 * what is no regular file, and those of openat2(2).
 */
int root_file__open(pid_t pid, const char *path);

/* The same for a path of gpuprobe's own, whose links are followed wherever they lead. */
int regular_file__open(const char *path);

#endif
