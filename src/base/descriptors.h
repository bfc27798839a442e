/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of gpuprobe's file descriptors. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

/*
 * Raises the limit to its maximum, because each file with probes takes some. Children that are
 * forked later inherit it. If raising it fails, the limit stays as it is.
 */
void descriptors__raise_limit(void);

#endif
