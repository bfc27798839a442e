/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of CUDA kernels: which names are valid, their readable form, and their bare function name.
 * Names come from watched processes and may be hostile: long, deeply nested, or exploding when
 * demangled.
 */
#ifndef SYMBOL_KERNEL_NAME_H
#define SYMBOL_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum length of a name, without the terminating zero. */
#define KERNEL_NAME_MAX 4096

/*
 * Whether `s` holds a kernel's name: 1 to 4096 of the characters A-Z a-z 0-9 _ $ . @ and a
 * terminating zero, all within `max` bytes.
 */
bool kernel_name__valid(const char *s, size_t max);

/*
 * Returns the C++ form of a mangled name. Returns a copy of the name if it is not mangled or cannot
 * be demangled: it is malformed, longer than 1024 (the demangler's limit), or its readable form
 * would be longer than 64 KiB. malloc; NULL if out of memory.
 */
char *kernel_name__demangle(const char *mangled);

/*
 * The same for one of many names of one process. *spent_ns is the CPU time spent on them so far;
 * this call adds its own. Real names take some microseconds each. After KERNEL_NAMES_NS the
 * remaining names stay mangled. Labels and bare names are made of this form.
 */
#define KERNEL_NAMES_NS 1000000000ull
char *kernel_name__demangle_whole(uint64_t *spent_ns, const char *mangled);

/*
 * The same, cut to KERNEL_NAME_MAX bytes: the name in all outputs. A mangled name can be made to
 * expand to sixty times its length.
 */
char *kernel_name__demangle_within(uint64_t *spent_ns, const char *mangled);

/*
 * Returns the bare function name in a demangled name: no return type, namespaces, template
 * arguments, parameters or [clone …]. "void a::k<int>(float*)" is "k";
 * "main::{lambda(int)#1}::operator()(int) const" is "operator()". A name that is still mangled is
 * parsed as far as possible without a demangler. Returns the whole name if nothing can be removed.
 * malloc; NULL if out of memory.
 */
char *kernel_name__short(const char *demangled);

/*
 * Returns the kernel's own mangled name from the symbol of its host function. For the kernel
 * _Z4vaddPfS_S_i that symbol is "_Z29__device_stub__Z4vaddPfS_S_iPfS_S_i",
 * "__device_stub__Z4vaddPfS_S_i" or (what launches pass today) "_Z4vaddPfS_S_i" itself. Removes
 * internal linkage, which the host's symbol has and the kernel's does not ("_ZL4stati" becomes
 * _Z4stati). malloc; NULL if out of memory.
 */
char *kernel_name__from_host_symbol(const char *symbol);

/* A hash of the name, the same in every run. Programs can choose names of equal hashes. */
uint32_t kernel_name__hash(const char *name);

/*
 * Writes `full` to `out`, cut to at most `limit` bytes (and to what out_size holds). A cut name
 * ends in '#' and eight hexadecimal digits, a hash of the whole name; the cut is at a UTF-8
 * character boundary. Below 9 bytes there is no hash. Returns the length written, without the zero.
 */
size_t kernel_name__cut(const char *full, char *out, size_t out_size, size_t limit);

/*
 * Cuts a name to KERNEL_NAME_MAX bytes. Takes over `name`, which may be NULL. malloc; NULL if out
 * of memory.
 */
char *kernel_name__keep(char *name);

#endif
