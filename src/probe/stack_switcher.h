/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that may switch stacks inside a call, and so return from their calls in another order than the kernel's return
 * probes stand (bpf/call/switch.bpf.h). Session links leave the returns out that would be in the way; other links
 * cannot, so that calls of such programs are watched as they begin alone.
 */
#ifndef PROBE_STACK_SWITCHER_H
#define PROBE_STACK_SWITCHER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a mapped file of that path is, by its name, a library of coroutines. */
bool stack_switcher__is_library(const char *path);

/* Whether the process's program calls makecontext(3) or swapcontext(3). False where it cannot be read. */
bool stack_switcher__is_program(pid_t pid);

#endif
