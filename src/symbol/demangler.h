/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libiberty's demanglers for C++ and Rust, with limits, because hostile symbols can produce
 * unlimited text or take unlimited time.
 */
#ifndef SYMBOL_DEMANGLER_H
#define SYMBOL_DEMANGLER_H

/* Maximum length of a readable form, without its zero. */
#define DEMANGLED_MAX 65535

/*
 * Sets *readable to the readable form of a C++ symbol ("_Z…"), malloc. Returns 0, -ENOMEM, or
 * -EINVAL if the symbol has no known readable form, is longer than 1024, or its form is longer than
 * DEMANGLED_MAX.
 */
int demangler__cpp(const char *symbol, char **readable);

/*
 * The same for a Rust symbol of either mangling ("_R…", "_ZN…17h…E"), without hashes and without a
 * suffix such as ".llvm.123". Up to 8192 long.
 */
int demangler__rust(const char *symbol, char **readable);

#endif
