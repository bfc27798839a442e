/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a watched process has a hand in: opened for reading only where
 * they are regular files and no larger than any that makes sense, without a way
 * out of the process's root, and without waiting, be it for a FIFO's other end
 * or for a program that serves files and does not answer.
 */
#ifndef TARGET_ROOT_FILE_H
#define TARGET_ROOT_FILE_H

#include <sys/types.h>

struct statx;

#define ROOT_FILE_MAX (1ull << 36) /* bytes; no library comes near, and a sparse file may claim anything */

/*
 * Opens `path` below the root of process `pid`; 0 is gpuprobe's own root.
 * Returns a file descriptor or a negative errno: -ESRCH, -ENOENT, -EINVAL for
 * what is no regular file, -EFBIG, -EREMOTE for what a FUSE file system has,
 * -EOVERFLOW where more is mounted than is read, and those of process_root__find.
 */
int root_file__open(pid_t pid, const char *path);

/* The same for a link of /proc/PID, in map_files say, that leads to the file by magic. */
int root_file__open_link(pid_t pid, const char *link);

/* The same for a path that gpuprobe, or who called it, has chosen: its links are followed wherever they lead. */
int regular_file__open(const char *path);

/* Why none of these was opened, by the errno that it has returned. */
const char *root_file__why(int code);

/*
 * Opens what `fd` (O_PATH) stands for, and closes that; `status` tells its type
 * and size. An `fd` that is a negative errno is returned.
 */
int regular_file__reopen(int fd, const struct statx *status);

#endif
