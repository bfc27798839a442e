/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects other than memory in the output of `gpuprobe memleak`: live ones by call site, growing
 * ones first, what they cost, and the parts of the process's untracked memory.
 */
#ifndef OUTPUT_MEMLEAK_OBJECTS_H
#define OUTPUT_MEMLEAK_OBJECTS_H

#include "base/json.h"
#include "output/memleak/memleak.h"

/*
 * Prints the section of one process; nothing unless objects of a site grow or are many. Returns 0
 * or -ENOMEM.
 */
int memleak_objects__print(FILE *out, const struct process *process, const struct growth *growth,
			   const struct memleak_options *options);

/* Writes the members "objects", "object_sites" and "untracked". Returns 0 or -ENOMEM. */
int memleak_objects__write(struct json *j, const struct process *process,
			   const struct growth *growth);

#endif
