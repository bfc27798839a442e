/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a process has code, in the form that BPF programs look up. */
#ifndef STACK_CODE_MAP_H
#define STACK_CODE_MAP_H

#include "gpuprobe/stack.h"
#include "symbol/process_map.h"

/* Sets all of *out from the mappings as last read. */
void code_map__make(const struct process_map *mappings, struct code_map *out);

#endif
