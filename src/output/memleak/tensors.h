/* SPDX-License-Identifier: BSD-2-Clause */
/* What `gpuprobe memleak` says of a process's tensors as a whole, in text and JSON. */
#ifndef OUTPUT_MEMLEAK_TENSORS_H
#define OUTPUT_MEMLEAK_TENSORS_H

#include <stdio.h>

#include "base/json.h"
#include "output/memleak/memleak.h"

/*
 * Prints a line for the process, which has tensors: "33.5 GiB held, 31.2 GiB in 48,112 tensors, 2.3
 * GiB unused (1.9 GiB pinned by 41 tensors)", and below it what is not known.
 */
void memleak_tensors__print(FILE *out, const struct process *process,
			    const struct memleak_options *options);

/* Writes the members of the JSON object "tensors", except its sites. */
void memleak_tensors__write(struct json *j, const struct process *process);

#endif
