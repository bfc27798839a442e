/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mounts that a process sees, as far as it matters before one of its files
 * is opened: a program that serves files (FUSE) can leave whoever looks at them
 * waiting for ever, and any user can be that program.
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
	bool loaded; /* read when they are first asked for */
	struct mount *list;
	size_t count;
	int error; /* why they are not all of them; 0: they are */
};

/* Those of the process; 0: gpuprobe's own. To be cleared. */
void mounts__init(struct mounts *mounts, pid_t pid);
void mounts__clear(struct mounts *mounts);

/*
 * Whether what `fd` (O_PATH) stands for can be opened, and looked into, without
 * asking another program. Fills `status` with type, size, device and inode, of
 * FUSE as the kernel remembers them. 0, -EREMOTE where it is of a FUSE file
 * system, or of one that neither the process nor gpuprobe has mounted any more
 * and that might be; -EOVERFLOW where that is not known, since they have more
 * mounts than are read (16 MiB of text); or another negative errno.
 *
 * A file system on a block device is taken for one that answers, fuseblk with
 * the others: to mount it takes an administrator.
 */
int mounts__check(struct mounts *mounts, int fd, struct statx *status);

/*
 * Between these calls, which may be nested, a thread reads the mounts of a process once for all files that it looks
 * at, and again only when some have come or gone: there may be 100,000, and a thousand files. All that is read of one
 * process then has the bound of 16 MiB. What is kept keeps the process's mount namespace from going: not for longer
 * than it takes.
 */
void mounts__keep(void);
void mounts__forget(void);

/*
 * Adds the mounts of a file in the form of /proc/PID/mountinfo, of which `bytes` have been read before, and are
 * afterwards. 0, -EOVERFLOW where 16 MiB do not hold it: those up to there are added; or another negative errno. For
 * tests.
 */
int mounts__read(struct mounts *mounts, FILE *in, size_t *bytes);

#endif
