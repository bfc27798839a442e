/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mounts that a process sees, as needed before one of its files is opened: a program that
 * serves files (FUSE) can block a process that looks at them forever, and any user can run such a
 * program.
 */
#ifndef TARGET_MOUNTS_H
#define TARGET_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct statx;

struct mount {
	uint64_t id;
	bool fuse;
};

struct mounts {
	pid_t pid;
	bool loaded; /* the list is read on first use */
	struct mount *list;
	size_t count;
	int error; /* why the list is incomplete; 0 if it is complete */
};

/* Prepares the mounts of the process; 0: gpuprobe's own. Clear them afterwards. */
void mounts__init(struct mounts *mounts, pid_t pid);
void mounts__clear(struct mounts *mounts);

/*
 * Whether the file of `fd` (O_PATH) can be opened and inspected without depending on another
 * program. Fills `status` with type, size, device and inode, for FUSE as the kernel remembers them.
 * Returns 0; -EREMOTE if the file is on a FUSE file system, or on one that neither the process nor
 * gpuprobe has mounted any more and that might be FUSE; -EOVERFLOW if that is unknown because they
 * have more mounts than are read (16 MiB of text); or another negative errno.
 *
 * A file system on a block device, including fuseblk, is assumed to answer: only an administrator
 * can mount it.
 */
int mounts__check(struct mounts *mounts, int fd, struct statx *status);

/*
 * Between these calls, which may be nested, a thread reads the mounts of a process once for all
 * files, and again only when they change: there may be 100,000 mounts and a thousand files. The
 * limit of 16 MiB then applies to everything read of one process. The kept list pins the process's
 * mount namespace, so do not keep it longer than necessary.
 */
void mounts__keep(void);
void mounts__forget(void);

/*
 * Adds the mounts of a file in the format of /proc/PID/mountinfo. `bytes` is the number of bytes
 * read so far, and is updated. Returns 0; -EOVERFLOW if the text exceeds 16 MiB, after adding the
 * mounts up to there; or another negative errno. For tests.
 */
int mounts__read(struct mounts *mounts, FILE *in, size_t *bytes);

#endif
