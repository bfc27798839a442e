/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of kernels whose C++ names are too long for the demangler, as some of CUTLASS are. What
 * tells them apart is read from the mangled form: classes, shapes and data types.
 */
#ifndef SYMBOL_MANGLED_LABEL_H
#define SYMBOL_MANGLED_LABEL_H

#include <stdbool.h>

/*
 * Writes a label of at most KERNEL_LABEL_MAX bytes for the mangled name. Returns false, with
 * `label` unchanged, if it cannot read the name.
 */
bool mangled_label__write(const char *mangled, char *label);

#endif
