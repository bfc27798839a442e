/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's vdso, which is in every process and in no file. */
#ifndef SYMBOL_VDSO_H
#define SYMBOL_VDSO_H

/* Its name in maps. */
#define VDSO_NAME "[vdso]"

/*
 * Creates a file in memory with gpuprobe's own vdso, which all 64-bit processes share. Returns its
 * descriptor or a negative errno; -ENOENT if there is none.
 */
int vdso__open(void);

#endif
