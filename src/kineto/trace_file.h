/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that a profiled process writes its trace to. Kineto writes to a file of the same name
 * with ".tmp" behind it, and renames that once it is complete. The functions run with the
 * permissions of the process's user.
 */
#ifndef KINETO_TRACE_FILE_H
#define KINETO_TRACE_FILE_H

#include <stdint.h>

#include "kineto/target.h"

#define KINETO_NAME_SIZE 64
#define KINETO_PATH_SIZE (KINETO_FOLDER_SIZE + KINETO_NAME_SIZE)

struct kineto_file {
	int folder; /* descriptor, the target's */
	char name[KINETO_NAME_SIZE];
	char path[KINETO_PATH_SIZE]; /* as the process sees it */
};

enum kineto_file_state {
	KINETO_FILE_NONE = 0,
	KINETO_FILE_BEGUN,
	KINETO_FILE_COMPLETE,
};

/* Chooses a name that nobody can guess. Returns 0 or a negative errno. */
int kineto_file__name(struct kineto_file *file, const struct kineto_folder *folder);

/* Also sets how many bytes it has; 0 if there is none. */
enum kineto_file_state kineto_file__look(const struct kineto_file *file, uint64_t *size);

/*
 * Opens the complete file and sets its size. Returns a descriptor or a negative errno: -EINVAL if
 * it is no regular file, -EPERM if it belongs to another user.
 */
int kineto_file__open(const struct kineto_file *file, uint64_t *size);

/* Deletes both files. Returns 0, also if there are none, or a negative errno. */
int kineto_file__remove(const struct kineto_file *file);

#endif
