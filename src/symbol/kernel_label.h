/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of kernels: short names that a person recognises and that tell kernels apart. The bare
 * function name (kernel_name__short) is the same for most kernels of PyTorch. docs/kernel-names.md
 * has the rules.
 */
#ifndef SYMBOL_KERNEL_LABEL_H
#define SYMBOL_KERNEL_LABEL_H

#include <stdbool.h>
#include <stdint.h>

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

/*
 * Returns the text for people of one of many kernels of one process: its label, or with `full` its
 * name (kernel_name__demangle_within). *spent_ns: the CPU time spent on demangling so far. malloc;
 * NULL if out of memory.
 */
char *kernel_label__text(uint64_t *spent_ns, const char *mangled, bool full);

#endif
