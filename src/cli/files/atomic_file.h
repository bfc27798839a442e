/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is written at the end and as a whole: until then what was there
 * under its name stays. Where that is a pipe or a device it is written to as
 * it is. All of that with the rights of gpuprobe's caller (privilege/file_rights.h).
 */
#ifndef CLI_WHOLE_FILE_H
#define CLI_WHOLE_FILE_H

#include <stddef.h>

#include "base/error.h"

struct atomic_file;

/*
 * Makes sure that it can be written. NULL for standard output. `path` must
 * outlive it. A negative errno with a text.
 */
int atomic_file__new(const char *path, struct atomic_file **out, struct error *err);

/* What was not written leaves nothing behind. NULL is fine. */
void atomic_file__free(struct atomic_file *file);

/* Once. 0, also where nobody reads standard output any more, or a negative errno with a text. */
int atomic_file__write(struct atomic_file *file, const char *text, size_t length, struct error *err);

#endif
