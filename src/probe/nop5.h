/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes on functions that begin with a nop of five bytes. Since Linux 6.18 such a probe becomes a call of a page of
 * the process once it was hit (optimised uprobes). A child that is forked afterwards has the call, and not the page:
 * it ends with SIGSEGV (measured on 6.18; none is known that does not). These functions get no probes there.
 */
#ifndef PROBE_NOP5_H
#define PROBE_NOP5_H

#include <stdbool.h>

/* Whether a kernel with this release (uname -r) may be such a one. */
bool nop5__is_harmful_on(const char *release);

/* Whether the running one may be. */
bool nop5__is_harmful(void);

#endif
