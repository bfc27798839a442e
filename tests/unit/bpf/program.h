/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpuprobe's BPF program as functions: bpf/gpuprobe.bpf.c itself, with an account and a record for each idle time, and its
 * entry and its return apart (LINKS_MULTI). Who calls is in `machine` (native/machine.h). One at a time.
 */
#ifndef TESTS_BPF_PROGRAM_H
#define TESTS_BPF_PROGRAM_H

#include "core/kernel.bpf.h"
#include "gpuprobe/profile.h"
#include "gpuprobe/losses.h"
#include "api/api.h"

/* The number of gpuprobe's pid namespace: tasks outside are not watched. */
#define PROGRAM_PIDNS 1

/* Loads it anew, with nothing in its maps, at that time (CLOCK_BOOTTIME); its probes are in from then on. */
void program__load(__u64 now_ns);
void program__unload(void);

/* A call's entry and its return. `machine` has task, time and, at the entry, the row of the function as the cookie. */
void program__enter(struct pt_regs *registers);
void program__return(struct pt_regs *registers);

/* The task of `machine` exits. */
void program__thread_ends(void);

/* The program's own account of a process, by its slot. The first process has slot 0. */
struct process_profile *program__profile(__u32 slot);

/* How often that was lost. */
__u64 program__lost(enum loss reason);

#endif
