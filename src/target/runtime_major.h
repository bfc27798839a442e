/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which major of the CUDA runtime a file carries: functions of one name take
 * other arguments in libcudart 11, 12 and 13.
 */
#ifndef TARGET_RUNTIME_MAJOR_H
#define TARGET_RUNTIME_MAJOR_H

#include "target/elf_file.h"

/*
 * The major of the runtime in `file`, or API_NEWEST (api/api.h) where it
 * cannot be told. A libcudart says it in its soname. A runtime linked into
 * another file is told by functions that a later one no longer has: the static
 * runtime is one object file, so that a program has all of them or none. A
 * file whose symbols do not say that it is older is taken for the newest.
 */
int runtime_major__of(struct elf_file *file);

#endif
