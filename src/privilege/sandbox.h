/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system call filter (seccomp) that gpuprobe runs under once COMMAND's process and its guard
 * have been forked: it can execute no other program, and an attacker who controls a library in
 * it is limited to what gpuprobe and NVML do.
 */
#ifndef PRIVILEGE_SANDBOX_H
#define PRIVILEGE_SANDBOX_H

#include <stdbool.h>

#include "base/error.h"

struct sandbox_options {
	bool tracefs; /* probes are perf events of tracefs */
	bool samples; /* threads are sampled by perf events */
	bool network; /* connections are made: to debuginfod's servers, or for OTLP */
	bool cache;   /* debuginfod's client keeps its files */
};

/*
 * Installs the filter on all threads of the process, for good, and on what they start. Calls that
 * are refused on purpose fail with EPERM. All other unlisted calls fail with ENOSYS, so that a C
 * library newer than the list does what it would do on an older kernel. No refusal kills the
 * process: half a report of days of watching is worth more than none. The kernel's log (dmesg,
 * audit) names each refused call.
 *
 * No effect in test builds with GPUPROBE_NO_FILTER defined. Returns a negative errno with the
 * reason in `err`.
 */
int sandbox__enter(const struct sandbox_options *options, struct error *err);

#endif
