/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether return probes harm who returns through them. Since Linux 6.11 a return probe is a system call of the
 * process; kernels that do not let it pass seccomp filters end the process there: 6.11, 6.12
 * before 6.12.14, 6.13 before 6.13.3 (from the history of the kernel; distributions may have mended theirs).
 */
#ifndef PROBE_RETURN_PROBES_H
#define PROBE_RETURN_PROBES_H

#include <stdbool.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "probe/probe_selftest.h"

/* Whether a kernel with this release (uname -r) may be such a one, and is to be tried. */
bool return_probes__are_doubtful(const char *release);

/* What the trial says of the kernel: 0, or -ENOTSUP with what to do. */
int return_probes__judge(const char *release, const struct probe_selftest *trial, struct error *err);

/*
 * Tries it on kernels that may be such: forks, so to be called before threads are started and the filter is on.
 * Returns 0, or -ENOTSUP with a message. What cannot be tried is left for the probes themselves to tell.
 */
int return_probes__check(enum link_kind kind, struct error *err);

#endif
