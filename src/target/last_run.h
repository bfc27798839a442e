/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a thread last ran, from se.exec_start in /proc/TID/sched. That is a time of the clock of the
 * CPU it ran on. Each CPU has its own such clock, which does not count interrupts and time stolen
 * by the hypervisor, so it is compared with the same CPU's clock now.
 */
#ifndef TARGET_LAST_RUN_H
#define TARGET_LAST_RUN_H

#include <stdint.h>
#include <sys/types.h>

/* The CPUs' clocks that have been read. */
struct cpu_clocks;

/* NULL if out of memory. */
struct cpu_clocks *cpu_clocks__new(void);
void cpu_clocks__free(struct cpu_clocks *clocks); /* NULL ok */

/*
 * Sets *ago_ns to how long the thread has not run, at least: the clock stands still during
 * interrupts. Moves the calling thread to that CPU for a moment. Returns 0, -ENODATA if the kernel
 * does not say (CONFIG_SCHED_DEBUG), -EBUSY after 64 different CPUs, or another negative errno.
 */
int last_run__ago(struct cpu_clocks *clocks, pid_t tid, uint64_t *ago_ns);

/* Parses the text of /proc/TID/sched, "se.exec_start : 123.456789" in ms; 0 if it is not there. */
uint64_t last_run__parse(const char *sched);

#endif
