/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of CUDA kernels: what a name may be, its readable form, its bare
 * function name. Names come from watched processes and can be made to harm:
 * long, deeply nested, exploding when demangled.
 */
#ifndef SYMBOL_KERNEL_NAME_H
#define SYMBOL_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest name, without the terminating zero. */
#define KERNEL_NAME_MAX 4096

/*
 * Whether `s` holds a kernel's name: 1 to 4096 of the characters
 * A-Z a-z 0-9 _ $ . @ and then a zero, all within `max` bytes.
 */
bool kernel_name__valid(const char *s, size_t max);

/*
 * The C++ form of a mangled name. A copy of the name itself where it is not
 * mangled or cannot be demangled: it is malformed, longer than 1024 (which
 * the demangler refuses), or its readable form would be longer than 64 KiB.
 * malloc; NULL without memory.
 */
char *kernel_name__demangle(const char *mangled);

/*
 * The same for one of many names of one owner, a process. *spent_ns is the CPU
 * time that they have taken, to which this one's is added: people's take some
 * microseconds each. After KERNEL_NAMES_NS the others stay mangled.
 */
#define KERNEL_NAMES_NS 1000000000ull
char *kernel_name__demangle_within(uint64_t *spent_ns, const char *mangled);

/*
 * The bare function name in a demangled name: no return type, namespaces,
 * template arguments, parameters or [clone …]. "void a::k<int>(float*)" is
 * "k"; "main::{lambda(int)#1}::operator()(int) const" is "operator()". A name
 * that is still mangled is looked into as far as that takes no demangler. The
 * whole name where nothing can be taken off. malloc; NULL without memory.
 */
char *kernel_name__short(const char *demangled);

/*
 * The kernel's own mangled name from the symbol of its host function, which
 * is "_Z29__device_stub__Z4vaddPfS_S_iPfS_S_i", "__device_stub__Z4vaddPfS_S_i"
 * or (what launches pass today) "_Z4vaddPfS_S_i" itself for the kernel
 * _Z4vaddPfS_S_i; internal linkage, which the host's symbol has and the
 * kernel's has not, is taken out ("_ZL4stati" is _Z4stati). malloc; NULL
 * without memory.
 */
char *kernel_name__from_host_symbol(const char *symbol);

/*
 * Writes `full` to `out`, cut to at most `limit` bytes (and to what out_size
 * holds). A name that was cut ends in '#' and eight hexadecimal digits, a
 * hash of the whole, and is cut before a whole UTF-8 character; under 9 bytes
 * there is no hash. Returns the length written, without the zero.
 */
size_t kernel_name__cut(const char *full, char *out, size_t out_size, size_t limit);

#endif
