/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpuprobe's BPF program as functions: bpf/gpuprobe.bpf.c itself, with a profile and a record for
 * each idle time, and with separate entry and return probes (LINKS_MULTI). `machine` has the caller
 * (native/machine.h). One at a time.
 */
#ifndef TESTS_BPF_PROGRAM_H
#define TESTS_BPF_PROGRAM_H

#include "core/kernel.bpf.h"
#include "gpuprobe/profile.h"
#include "gpuprobe/losses.h"
#include "api/api.h"

/* The number of gpuprobe's pid namespace: tasks outside are not watched. */
#define PROGRAM_PIDNS 1

/*
 * Loads the program anew, with empty maps, at this time (CLOCK_BOOTTIME), from which its probes are
 * attached.
 */
void program__load(__u64 now_ns);
void program__unload(void);

/*
 * A call's entry and return. `machine` has the task, the time and, at the entry, the function's row
 * as the cookie.
 */
void program__enter(struct pt_regs *registers);
void program__return(struct pt_regs *registers);

/* The task of `machine` exits. */
void program__thread_ends(void);

/* The program's own profile of a process, by its slot. The first process has slot 0. */
struct process_profile *program__profile(__u32 slot);

/* How often this kind of data was lost. */
__u64 program__lost(enum loss reason);

#endif
