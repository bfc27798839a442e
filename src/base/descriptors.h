/* SPDX-License-Identifier: BSD-2-Clause */
/* How many descriptors gpuprobe may have. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

/*
 * Raises the limit as far as it may be raised: each file with probes takes some. Children that are forked later have it
 * as well. Where that fails the limit stays as it is.
 */
void descriptors__raise_limit(void);

#endif
