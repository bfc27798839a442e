/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which major version of the CUDA runtime a file contains: some functions take different arguments
 * in libcudart 11, 12 and 13.
 */
#ifndef TARGET_RUNTIME_MAJOR_H
#define TARGET_RUNTIME_MAJOR_H

#include "target/elf_file.h"

/*
 * Returns the major of the runtime in `file`, or API_NEWEST (api/api.h) if it is unknown. A
 * libcudart states it in its soname. A runtime linked into another file is recognised by functions
 * that later ones no longer have: the static runtime is one object file, so a program has all of
 * them or none. A file whose symbols do not show that it is older counts as the newest.
 */
int runtime_major__of(struct elf_file *file);

#endif
