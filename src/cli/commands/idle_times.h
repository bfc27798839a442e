/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of --idle-times: each time in which a process is proved to have had nothing queued on a GPU, as
 * comma-separated values. Sums of them are in every profile; the file is for those who lay them beside another timeline.
 */
#ifndef CLI_IDLE_TIMES_H
#define CLI_IDLE_TIMES_H

#include "base/error.h"
#include "collect/collector.h"

struct idle_times;

/* Opens the file as output_file__open does, and writes the heading. Returns 0, or a negative errno with a text. */
int idle_times__new(const char *path, struct idle_times **out, struct error *err);

/* NULL is fine. */
void idle_times__free(struct idle_times *times);

/* One more line. What cannot be written is told by idle_times__finish. */
void idle_times__add(struct idle_times *times, const struct process *process, const struct record_idle *record);

/* All has been written, or a negative errno with a text. NULL is fine. */
int idle_times__finish(struct idle_times *times, struct error *err);

#endif
