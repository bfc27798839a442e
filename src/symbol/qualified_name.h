/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name of a C++ function with its namespaces and classes, but without return type, template
 * arguments, parameters, unnamed namespaces and "[clone …]":
 *
 *   void at::native::(anonymous namespace)::fill<float>(at::Tensor&, float) const
 *   at::native::fill
 */
#ifndef SYMBOL_QUALIFIED_NAME_H
#define SYMBOL_QUALIFIED_NAME_H

#include <stddef.h>

/*
 * Writes the name to `out`, cut to `size` - 1 bytes. Takes any text in linear time: a name that is
 * not C++, or of which nothing would be left, is written as it is.
 */
void qualified_name__write(const char *demangled, char *out, size_t size);

#endif
