/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether return probes harm the processes that return through them. Since Linux 6.11 a return
 * probe is a system call of the process. Kernels that do not exempt it from seccomp filters end the
 * process there: 6.11, 6.12 before 6.12.14, 6.13 before 6.13.3 (from the kernel's history;
 * distributions may have fixed theirs).
 */
#ifndef PROBE_RETURN_PROBES_H
#define PROBE_RETURN_PROBES_H

#include <stdbool.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "probe/probe_selftest.h"

/* Whether a kernel with this release (uname -r) may be affected and should be tried. */
bool return_probes__are_doubtful(const char *release);

/* Judges the result of the trial: returns 0, or -ENOTSUP with what to do. */
int return_probes__judge(const char *release, const struct probe_selftest *trial,
			 struct error *err);

/*
 * Runs the trial on kernels that may be affected. It forks, so call it before starting threads and
 * before the seccomp filter. Returns 0, or -ENOTSUP with a message. If the trial itself fails,
 * returns 0: attaching the real probes will report the problem.
 */
int return_probes__check(enum link_kind kind, struct error *err);

#endif
