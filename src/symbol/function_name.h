/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable names of functions from their symbols: C++ and both manglings of Rust ("_R…", and the
 * older one, which is C++'s with a hash appended and characters spelled out). Other or implausible
 * symbols stay as they are.
 */
#ifndef SYMBOL_FUNCTION_NAME_H
#define SYMBOL_FUNCTION_NAME_H

#include <stdint.h>

/* Maximum length of a name, without its zero; a longer one is cut as kernel_name__cut does. */
#define FUNCTION_NAME_MAX 4096

/* malloc; NULL if out of memory. */
char *function_name__readable(const char *symbol);

/*
 * The same for one of many names of one file. *spent_ns is the CPU time spent on them so far; this
 * call adds its own. After FUNCTION_NAMES_NS the remaining symbols stay as they are.
 */
#define FUNCTION_NAMES_NS 1000000000ull
char *function_name__readable_within(uint64_t *spent_ns, const char *symbol);

#endif
