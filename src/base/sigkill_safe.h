/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that SIGKILL of this process does not interrupt. If a system call that attaches or detaches
 * probes is killed half-way, breakpoints stay in the target programs for as long as they run: the
 * kernel cannot reach their memory on behalf of a dying task ("failed to unregister, leaking
 * uprobe").
 */
#ifndef BASE_SIGKILL_SAFE_H
#define BASE_SIGKILL_SAFE_H

#define UNKILLED_MAX 16

/*
 * Calls work(arg) in `count` processes at once (1 to UNKILLED_MAX), which share this process's
 * memory and descriptors, and returns when all have returned. `work` should make system calls and
 * little else: it shares errno with the caller and has 64 KiB of stack. If a process cannot be
 * created, this process does its share.
 */
void sigkill_safe__run(void (*work)(void *arg), void *arg, unsigned int count);

#endif
