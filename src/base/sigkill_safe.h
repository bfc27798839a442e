/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that SIGKILL of this process does not break off. A system call that puts probes in or takes them out and is
 * killed half-way leaves breakpoints behind in the programs that it was about, for as long as they run: the kernel
 * cannot reach their memory for one who is about to die ("failed to unregister, leaking uprobe").
 */
#ifndef BASE_SIGKILL_SAFE_H
#define BASE_SIGKILL_SAFE_H

#define UNKILLED_MAX 16

/*
 * Calls work(arg) in `count` processes at once, 1 to UNKILLED_MAX, which share this one's memory and descriptors, and
 * returns when all have returned. `work` makes system calls and little else: it has the errno of the caller, and 64
 * KiB of stack. What cannot be had a process for is done in this one.
 */
void sigkill_safe__run(void (*work)(void *arg), void *arg, unsigned int count);

#endif
