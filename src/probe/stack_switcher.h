/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that may switch stacks inside a call, and so return from calls in another order than the
 * kernel's return probes expect (bpf/call/switch.bpf.h). Session links skip the returns that would
 * do harm. Other links cannot, so the calls of such programs are only watched at entry.
 */
#ifndef PROBE_STACK_SWITCHER_H
#define PROBE_STACK_SWITCHER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a mapped file of that path is, by its name, a coroutine library. */
bool stack_switcher__is_library(const char *path);

/*
 * Whether the process's program calls makecontext(3) or swapcontext(3). False if it cannot be read.
 */
bool stack_switcher__is_program(pid_t pid);

#endif
