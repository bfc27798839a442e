/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demanglers for C++ and Rust, of libiberty, kept from what hostile
 * symbols make of them: text or time without end.
 */
#ifndef SYMBOL_DEMANGLER_H
#define SYMBOL_DEMANGLER_H

/* The longest readable form, without its zero. */
#define DEMANGLED_MAX 65535

/*
 * The readable form of a C++ symbol ("_Z…"): *readable, malloc. -EINVAL: it
 * has none that is known, is longer than 1024, or its form is longer than
 * DEMANGLED_MAX. -ENOMEM.
 */
int demangler__cpp(const char *symbol, char **readable);

/*
 * The same of a Rust symbol of either mangling ("_R…", "_ZN…17h…E"), without
 * hashes and without a suffix as ".llvm.123". Up to 8192 long.
 */
int demangler__rust(const char *symbol, char **readable);

#endif
