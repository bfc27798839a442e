/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes of a model by their pids and starts, which together tell which process it is. There may be thousands,
 * most of them ended, and what is kept of each asks whether it is still there.
 */
#ifndef MODEL_PROCESS_INDEX_H
#define MODEL_PROCESS_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

struct process_index;

/* Of those that `has` is true of, or of all (NULL); good until the model's processes change. NULL without memory. */
struct process_index *process_index__new(const struct model *model, bool (*has)(const struct process *process));
void process_index__free(struct process_index *index);

/* The first of them in the model; NULL: none. */
const struct process *process_index__find(const struct process_index *index, int32_t pid, uint64_t start_ns);

size_t process_index__count(const struct process_index *index);

#endif
