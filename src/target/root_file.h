/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a watched process controls. They are opened for reading only if they are regular files
 * of a sensible size, without leaving the process's root, and without waiting for a FIFO's other
 * end or for a program that serves files and does not answer.
 */
#ifndef TARGET_ROOT_FILE_H
#define TARGET_ROOT_FILE_H

#include <sys/types.h>

struct statx;

#define ROOT_FILE_MAX (1ull << 36) /* bytes; no library is this large; a sparse file may be */

/*
 * Opens `path` below the root of process `pid`; 0 is gpuprobe's own root. Returns a file descriptor
 * or a negative errno: -ESRCH, -ENOENT, -EINVAL if it is not a regular file, -EFBIG, -EREMOTE if it
 * is on a FUSE file system, -EOVERFLOW if there are more mounts than are read, and those of
 * process_root__find.
 */
int root_file__open(pid_t pid, const char *path);

/*
 * The same for a directory: -ENOTDIR if it is none. It may have any number of entries, as many as
 * the process likes.
 */
int root_file__open_directory(pid_t pid, const char *path);

/* The same as root_file__open for a magic link of /proc/PID to a file, for example in map_files. */
int root_file__open_link(pid_t pid, const char *link);

/*
 * The same for a path that gpuprobe or its caller has chosen: its links are followed wherever they
 * lead.
 */
int regular_file__open(const char *path);

/* Explains why one of these functions failed, by the errno that it returned. */
const char *root_file__why(int code);

/*
 * Opens the file of `fd` (O_PATH) and closes `fd`; `status` has its type and size. If `fd` is a
 * negative errno, returns that.
 */
int regular_file__reopen(int fd, const struct statx *status);

#endif
