/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable names of functions, from their symbols: C++ by the demangler of
 * kernel_name.h, and Rust's legacy mangling, which is C++'s with a hash behind
 * and characters spelled out. Rust's v0 names ("_R…") stay as they are.
 */
#ifndef SYMBOL_FUNCTION_NAME_H
#define SYMBOL_FUNCTION_NAME_H

/* The longest name, without its zero; a longer one is cut as kernel_name__cut does. */
#define FUNCTION_NAME_MAX 4096

/* malloc; NULL without memory. */
char *function_name__readable(const char *symbol);

#endif
