/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's vdso, which is in every process and in no file. */
#ifndef SYMBOL_VDSO_H
#define SYMBOL_VDSO_H

/* What maps calls it. */
#define VDSO_NAME "[vdso]"

/*
 * A file in memory with gpuprobe's own vdso, which is what every 64-bit process
 * has. Returns its descriptor or a negative errno; -ENOENT where there is none.
 */
int vdso__open(void);

#endif
