/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable names of functions, from their symbols: C++ and both manglings of
 * Rust ("_R…", and the older one, which is C++'s with a hash behind and
 * characters spelled out). What is neither, or cannot be true, stays as it is.
 */
#ifndef SYMBOL_FUNCTION_NAME_H
#define SYMBOL_FUNCTION_NAME_H

#include <stdint.h>

/* The longest name, without its zero; a longer one is cut as kernel_name__cut does. */
#define FUNCTION_NAME_MAX 4096

/* malloc; NULL without memory. */
char *function_name__readable(const char *symbol);

/*
 * The same for one of many names of one owner, a file. *spent_ns is the CPU time that they
 * have taken, to which this one's is added; after FUNCTION_NAMES_NS the others stay as they are.
 */
#define FUNCTION_NAMES_NS 1000000000ull
char *function_name__readable_within(uint64_t *spent_ns, const char *symbol);

#endif
