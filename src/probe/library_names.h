/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names by which a BPF object recognises libraries, other than CUDA's own, whose mapping holds
 * the command's processes until the library has its probes.
 */
#ifndef PROBE_LIBRARY_NAMES_H
#define PROBE_LIBRARY_NAMES_H

#include <stdbool.h>

#include "gpuprobe/state/config.h"

/* Which libraries get probes. */
struct library_names {
	bool tensors;	 /* those of frameworks' allocators */
	bool exhaustion; /* those of them that say that memory ran out */
	bool handles;	 /* those above CUDA that make handles, such as cuBLAS */
};

/* Fills config->library_names, which must be zero. */
void library_names__fill(struct config *config, const struct library_names *names);

#endif
