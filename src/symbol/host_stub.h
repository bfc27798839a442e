/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel behind a host function address: before CUDA 13 (and without libcuda) cudaLaunchKernel
 * is called with the address of the kernel's host function, whose symbol contains the kernel's
 * name.
 */
#ifndef SYMBOL_HOST_STUB_H
#define SYMBOL_HOST_STUB_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The files in which names are looked up, and the mappings of processes. */
struct host_stubs;

/* `max_files` are open at a time. Returns NULL if out of memory. */
struct host_stubs *host_stubs__new(size_t max_files);
void host_stubs__free(struct host_stubs *stubs);

/*
 * Forgets the mappings of processes. A process's mappings, possibly tens of thousands of lines, are
 * read once for all kernels that are looked up until this call. Call it after each batch of
 * look-ups, and now and then: after half a minute without look-ups it also closes the files, which
 * would keep file systems busy. `now_ns` is of CLOCK_BOOTTIME.
 */
void host_stubs__forget(struct host_stubs *stubs, uint64_t now_ns);

/*
 * Sets *name (malloc) to the mangled name of the kernel whose host function is at `address` in the
 * process. Only the exact start of a function counts: the nearest symbol of a stripped file would
 * be a wrong name. Returns 0, -ENOENT (no file, no symbol or no valid kernel name there), -ESRCH
 * (no such process) or another negative errno.
 */
int host_stub__name(struct host_stubs *stubs, pid_t pid, uint64_t address, char **name);

#endif
