/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tries a kind of link for real: puts an entry and a return probe on a function of gpuprobe that no
 * other code calls, has children call it, and removes the probes. Leaves nothing behind.
 */
#ifndef PROBE_PROBE_SELFTEST_H
#define PROBE_PROBE_SELFTEST_H

#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/state.h"

/* How a child that called the probed function ended. */
enum trial_end {
	TRIAL_NOT_MADE = 0,
	TRIAL_RETURNED,
	TRIAL_KILLED, /* by a signal, in the call or at its return */
};

struct probe_selftest {
	uint64_t calls; /* calls by the child without a filter, before one that does not return */
	uint64_t hits;	/* hits meanwhile: two per call and one for the last, if all is well */
	enum trial_end plain;
	/*
	 * The same under a seccomp filter that refuses unknown system calls, as container filters
	 * do. Since Linux 6.11 a return probe is a system call; on kernels that do not exempt it
	 * (6.11, 6.12 before 6.12.14, 6.13 before 6.13.3) the process jumps to a random address.
	 */
	enum trial_end filtered;
};

/*
 * Fills `trial`. Forks twice, so call it before starting threads. Returns 0, or a negative errno
 * with the reason in `err` if the probes cannot be attached.
 */
int probe_selftest__run(enum link_kind kind, struct probe_selftest *trial, struct error *err);

#endif
