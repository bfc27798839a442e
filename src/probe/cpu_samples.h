/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a BPF program at an even rate on each CPU, by perf events. An event per thread would start
 * and stop a timer at each of its switches: 2.4 us in a virtual machine, several times the cost of
 * everything else that follows the thread.
 */
#ifndef PROBE_CPU_SAMPLES_H
#define PROBE_CPU_SAMPLES_H

#include "base/error.h"

struct bpf_program;
struct cpu_samples;

/*
 * `rate` samples per second on each CPU that is online. Returns 0, or a negative errno if no CPU
 * can be sampled.
 */
int cpu_samples__new(const struct bpf_program *program, unsigned int rate, struct cpu_samples **out,
		     struct error *err);
void cpu_samples__free(struct cpu_samples *samples); /* NULL is fine */

#endif
