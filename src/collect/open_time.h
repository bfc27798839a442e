/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time in calls in progress, added to what is counted of their functions, waits and threads: see open_calls.h. What
 * was told is kept until the counters have caught up with it, so that no time goes back.
 */
#ifndef COLLECT_OPEN_TIME_H
#define COLLECT_OPEN_TIME_H

#include "collect/reading.h"

struct open_time;

/* NULL without memory. */
struct open_time *open_time__new(void);
void open_time__free(struct open_time *time);

/* How long the call has lasted. It may have begun after the reading. */
static inline uint64_t open_time__since(const struct open_call_record *record, uint64_t now_ns)
{
	return now_ns > record->start_ns ? now_ns - record->start_ns : 0;
}

/* Takes a call of the process in, which is `open` or is not any more, and the time in it so far. Returns 0 or -ENOMEM. */
int open_time__add(struct open_time *time, struct process *process, const struct open_call_record *record, bool open,
		   uint64_t ns);

/* All calls of the reading are in: adds the time in them to the model. Returns 0 or -ENOMEM. */
int open_time__settle(struct open_time *time, const struct reading *reading);

#endif
