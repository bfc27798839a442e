/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of kernels: short names that a person recognises and that tell kernels apart. The bare
 * function name (kernel_name__short) is the same for most kernels of PyTorch. docs/kernel-names.md
 * has the rules.
 */
#ifndef SYMBOL_KERNEL_LABEL_H
#define SYMBOL_KERNEL_LABEL_H

/* Maximum length in bytes, and so in columns, without the terminating zero. */
#define KERNEL_LABEL_MAX 60
#define KERNEL_LABEL_SIZE (KERNEL_LABEL_MAX + 1)

/*
 * Writes the label of the kernel with the readable name `readable`: demangled, plain, or still
 * mangled if no demangler could read it. Two kernels may have the same label; label_set.h marks
 * them. The label has no '#', and is not empty unless the name is. The time is linear in the length
 * of the name; real names take a few microseconds.
 */
void kernel_label__write(const char *readable, char label[KERNEL_LABEL_SIZE]);

#endif
