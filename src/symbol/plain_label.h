/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of kernels without C++ names: those that cuBLAS, cuDNN, Triton and other code generators
 * make of words with underscores between them.
 */
#ifndef SYMBOL_PLAIN_LABEL_H
#define SYMBOL_PLAIN_LABEL_H

#include <stddef.h>

/*
 * Writes a label of at most KERNEL_LABEL_MAX bytes for the name, which has no zero byte. If the
 * name is longer, words that tell little are left out or shortened, and then the middle is cut.
 */
void plain_label__write(const char *name, size_t length, char *label);

/*
 * Writes the text to `out`, at most `limit` bytes of it: if it is longer, the middle is replaced by
 * "..". `out` has room for limit + 1 bytes; `limit` is at least 8. Returns the length written.
 */
size_t plain_label__cut(const char *text, size_t length, char *out, size_t limit);

#endif
