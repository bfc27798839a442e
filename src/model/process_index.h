/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a model's processes by pid and start, which together identify a process. There may be
 * thousands, most of them ended, and records kept per process must check whether it still exists.
 */
#ifndef MODEL_PROCESS_INDEX_H
#define MODEL_PROCESS_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

struct process_index;

/*
 * Indexes the processes for which `has` returns true, or all (NULL); valid until the model's
 * processes change. NULL without memory.
 */
struct process_index *process_index__new(const struct model *model,
					 bool (*has)(const struct process *process));
void process_index__free(struct process_index *index);

/* The first match in the model; NULL: none. */
const struct process *process_index__find(const struct process_index *index, int32_t pid,
					  uint64_t start_ns);

size_t process_index__count(const struct process_index *index);

#endif
