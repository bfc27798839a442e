/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of system calls (seccomp) that gpuprobe works under once COMMAND
 * is at hand: no other program is run, and what a library in it could be made
 * to do is what gpuprobe and NVML do.
 */
#ifndef PRIVILEGE_SANDBOX_H
#define PRIVILEGE_SANDBOX_H

#include <stdbool.h>

#include "base/error.h"

struct sandbox_options {
	bool tracefs; /* probes are perf events of tracefs */
	bool samples; /* threads are looked at by perf events */
	bool network; /* connections are made: debuginfod is asked */
};

/*
 * Puts the filter on all threads of the process, for good, and on what they
 * start. What it does not let through fails: with EPERM where it is refused on
 * purpose, with ENOSYS elsewhere, so that a C library newer than the list does
 * what it would do on an older kernel. Nobody is killed: half a report of what
 * was watched for days is worth more than none. The kernel's log (dmesg,
 * audit) names each refused call.
 *
 * Without effect in builds for tests that have GPUPROBE_NO_FILTER defined. A
 * negative errno with the reason in `err`.
 */
int sandbox__enter(const struct sandbox_options *options, struct error *err);

#endif
