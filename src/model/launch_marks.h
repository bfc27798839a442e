/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often each kernel of each process had been launched at the latest reading, so that the next
 * one shows which kernels ran in between. The counts take at most 2 MiB,
 * the names 300 bytes a process.
 */
#ifndef MODEL_LAUNCH_MARKS_H
#define MODEL_LAUNCH_MARKS_H

#include "model/model.h"

struct launch_marks;

/* NULL without memory. */
struct launch_marks *launch_marks__new(void);
void launch_marks__free(struct launch_marks *marks); /* NULL ok */

/* Marks the counts of this reading. Processes without memory or room have no marks then. */
void launch_marks__take(struct launch_marks *marks, const struct model *model);

/*
 * Writes the labels of the kernels that the process has launched since its mark, or else between
 * the latest two readings between which it launched any. Those with most launches in all come
 * first, at most four: "gemm, relu and 3 more". Empty if there are none, or it is unknown.
 * `size` is of `text`, which is cut between labels.
 */
void launch_marks__latest(const struct launch_marks *marks, const struct process *process,
			  char *text, size_t size);

#endif
