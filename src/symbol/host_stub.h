/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel that a host function address stands for: before CUDA 13 (and
 * without libcuda) cudaLaunchKernel is called with the address of the
 * kernel's host function, and the symbol there tells the kernel's name.
 */
#ifndef SYMBOL_HOST_STUB_H
#define SYMBOL_HOST_STUB_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The files that names are looked up in, and what processes have mapped. */
struct host_stubs;

/* `max_files` are open at a time. NULL without memory. */
struct host_stubs *host_stubs__new(size_t max_files);
void host_stubs__free(struct host_stubs *stubs);

/*
 * What a process has mapped is read once, for all of its kernels that are looked up until this is called: a list of
 * some ten thousand lines, maybe. To be called behind those that are looked up together, and every now and then: where
 * nothing has been looked up for half a minute the files are closed, too, which would keep file systems in use. `now_ns` is of CLOCK_BOOTTIME.
 */
void host_stubs__forget(struct host_stubs *stubs, uint64_t now_ns);

/*
 * The mangled name of the kernel whose host function is at `address` in the
 * process; *name is malloc'd. Only the exact start of a function counts: the
 * nearest symbol of a stripped file would be a wrong name. Returns 0, -ENOENT
 * (no file, no symbol or no valid kernel name there), -ESRCH (no such process)
 * or another negative errno.
 */
int host_stub__name(struct host_stubs *stubs, pid_t pid, uint64_t address, char **name);

#endif
