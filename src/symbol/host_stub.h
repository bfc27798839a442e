/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel that a host function address stands for: before CUDA 13 (and
 * without libcuda) cudaLaunchKernel is called with the address of the
 * kernel's host function, and the symbol there tells the kernel's name.
 */
#ifndef SYMBOL_HOST_STUB_H
#define SYMBOL_HOST_STUB_H

#include <stdint.h>
#include <sys/types.h>

#include "symbol/symbol_cache.h"

/*
 * The mangled name of the kernel whose host function is at `address` in the
 * process; *name is malloc'd. Only the exact start of a function counts: the
 * nearest symbol of a stripped file would be a wrong name. Returns 0, -ENOENT
 * (no file, no symbol or no valid kernel name there), -ESRCH (no such process)
 * or another negative errno.
 */
int host_stub__name(struct symbol_cache *cache, pid_t pid, uint64_t address, char **name);

#endif
