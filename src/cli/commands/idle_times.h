/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of --idle-times: each period in which a process is proved to have had nothing queued on
 * a GPU, as comma-separated values. Every profile has their sums; the file is for comparing them
 * with another timeline.
 */
#ifndef CLI_IDLE_TIMES_H
#define CLI_IDLE_TIMES_H

#include "base/error.h"
#include "collect/collector.h"

struct idle_times;

/*
 * Opens the file as output_file__open does, and writes the heading. Returns 0, or a negative errno
 * with a message.
 */
int idle_times__new(const char *path, struct idle_times **out, struct error *err);

/* NULL ok. */
void idle_times__free(struct idle_times *times);

/* Adds a line. idle_times__finish reports write errors. */
void idle_times__add(struct idle_times *times, const struct process *process,
		     const struct record_idle *record);

/* Returns 0 if everything was written, or a negative errno with a message. NULL ok. */
int idle_times__finish(struct idle_times *times, struct error *err);

#endif
