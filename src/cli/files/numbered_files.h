/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files NAME.1 to NAME.N, which are written one after another; behind the last one the oldest
 * is written again. All are opened at the start, with the permissions of gpuprobe's caller, because
 * gpuprobe has given up its privileges by the time that one is needed.
 */
#ifndef CLI_NUMBERED_FILES_H
#define CLI_NUMBERED_FILES_H

#include "base/error.h"

#define NUMBERED_FILES_MAX 100u

struct numbered_files;

/*
 * Opens `count` files, which are created or stay as they are. Returns 0 or a negative errno with a
 * message: one cannot be written, or is no regular file.
 */
int numbered_files__new(const char *name, unsigned int count, struct numbered_files **out,
			struct error *err);

/* Removes those that were created and are still empty, as far as gpuprobe may. NULL ok. */
void numbered_files__free(struct numbered_files *files);

/*
 * Empties the next file: one that is empty, else the oldest. Returns a descriptor, which the caller
 * closes, or a negative errno. *path is the file's, valid as long as `files`.
 */
int numbered_files__next(struct numbered_files *files, const char **path);

#endif
