/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is written at the end and replaced atomically: until then an existing file keeps its
 * contents. A pipe or a device is written in place. All of this happens with the permissions of
 * gpuprobe's caller (privilege/file_rights.h).
 */
#ifndef CLI_ATOMIC_FILE_H
#define CLI_ATOMIC_FILE_H

#include <stddef.h>

#include "base/error.h"

struct atomic_file;

/*
 * Checks that the file can be written. `path` must outlive it; NULL: standard output. Returns 0, or
 * a negative errno with a message.
 */
int atomic_file__new(const char *path, struct atomic_file **out, struct error *err);

/* Leaves nothing behind if the file was not written. NULL ok. */
void atomic_file__free(struct atomic_file *file);

/*
 * Writes the file; called once. Returns 0, also if the reader of standard output has gone, or a
 * negative errno with a message.
 */
int atomic_file__write(struct atomic_file *file, const char *text, size_t length,
		       struct error *err);

#endif
