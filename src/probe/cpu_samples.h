/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a BPF program at an even rate on each CPU, by perf events. An event of each thread's own would start and stop a
 * timer at each of its switches: 2.4 us in a virtual machine, several times what all else costs there that follows it.
 */
#ifndef PROBE_CPU_SAMPLES_H
#define PROBE_CPU_SAMPLES_H

#include "base/error.h"

struct bpf_program;
struct cpu_samples;

/* `rate` a second on each CPU that is there. 0, or a negative errno where it can be on none. */
int cpu_samples__new(const struct bpf_program *program, unsigned int rate, struct cpu_samples **out, struct error *err);
void cpu_samples__free(struct cpu_samples *samples); /* NULL is fine */

#endif
