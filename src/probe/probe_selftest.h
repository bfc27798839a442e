/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tries a kind of link for real: an entry and a return probe on a function of
 * gpuprobe's own that nobody else calls, children that call it, and their end.
 * Nothing of it stays.
 */
#ifndef PROBE_PROBE_SELFTEST_H
#define PROBE_PROBE_SELFTEST_H

#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/state.h"

/* What became of a child that called the probed function. */
enum trial_end {
	TRIAL_NOT_MADE = 0,
	TRIAL_RETURNED,
	TRIAL_KILLED, /* by a signal, in the call or at its return */
};

struct probe_selftest {
	uint64_t calls; /* made by the child without a filter, before one that does not return */
	uint64_t hits;	/* probes that ran meanwhile: two for each and one for the last, if all is well */
	enum trial_end plain;
	/*
	 * The same behind a seccomp filter that refuses system calls that it does not know, as
	 * those of containers do. Since Linux 6.11 a return probe is one; kernels that do not let it
	 * pass (6.11, 6.12 before 6.12.14, 6.13 before 6.13.3) have the process jump nowhere.
	 */
	enum trial_end filtered;
};

/*
 * Fills `trial`. Forks twice, so it is to be called before threads are started.
 * Returns 0, or a negative errno with the reason in `err` where the probes cannot
 * be put in.
 */
int probe_selftest__run(enum link_kind kind, struct probe_selftest *trial, struct error *err);

#endif
