/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time in calls in progress, added to the counted time of their functions, waits and threads,
 * see open_calls.h. A reported time is kept until the counters have caught up with it, so that no
 * time decreases.
 */
#ifndef COLLECT_OPEN_TIME_H
#define COLLECT_OPEN_TIME_H

#include "collect/reading.h"

struct open_time;

/* NULL without memory. */
struct open_time *open_time__new(void);
void open_time__free(struct open_time *time);

/* How long the call has lasted; 0 if it began after the reading. */
static inline uint64_t open_time__since(const struct open_call_record *record, uint64_t now_ns)
{
	return now_ns > record->start_ns ? now_ns - record->start_ns : 0;
}

/*
 * Adds a call of the process, and the time in it so far. `open`: it is still in progress. Returns 0
 * or -ENOMEM.
 */
int open_time__add(struct open_time *time, struct process *process,
		   const struct open_call_record *record, bool open, uint64_t ns);

/*
 * Adds the time in all calls of the reading to the model, once they are complete. Returns 0 or
 * -ENOMEM.
 */
int open_time__settle(struct open_time *time, const struct reading *reading);

#endif
