/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process whose profiler is to make a trace: whether it can be asked, and where it can write a
 * file. Its folders are opened with gpuprobe's privileges, which are given up before any file in
 * them is touched.
 */
#ifndef KINETO_TARGET_H
#define KINETO_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "kineto/environment.h"

#define KINETO_FOLDERS 2

struct kineto_target {
	pid_t pid;
	int pidfd; /* readable once the process has ended */
	uid_t uid; /* with which it makes files, in gpuprobe's user namespace */
	gid_t gid;
	/* in its file system; the first one that it may write to is taken; -1: there is none */
	struct kineto_folder {
		int fd;
		char path[KINETO_FOLDER_SIZE];
	} folders[KINETO_FOLDERS];
};

/*
 * Looks at the process. Returns 0, or a negative errno with a message. kineto_target__close
 * releases it in both cases.
 */
int kineto_target__open(struct kineto_target *target, pid_t pid, struct error *err);
void kineto_target__close(struct kineto_target *target);

/*
 * The folder for the trace, with the calling process's permissions, which must be those of the
 * target's user. NULL with a message: there is none.
 */
const struct kineto_folder *kineto_target__folder(const struct kineto_target *target,
						  struct error *err);

bool kineto_target__has_ended(const struct kineto_target *target);

#endif
