/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that begin with a five-byte nop. Since Linux 6.18 a probe on such a function becomes a
 * call into a special page of the process once it was hit (optimised uprobes). A child that is
 * forked afterwards inherits the call but not the page, and ends with SIGSEGV (measured on 6.18; no
 * fixed kernel is known). On such kernels these functions get no probes.
 */
#ifndef PROBE_NOP5_H
#define PROBE_NOP5_H

#include <stdbool.h>

/* Whether a kernel with this release (uname -r) may have the bug. */
bool nop5__is_harmful_on(const char *release);

/* Whether the running kernel may have it. */
bool nop5__is_harmful(void);

#endif
