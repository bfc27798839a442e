/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in progress, read from their threads' own records (bpf/call/open_calls.bpf.h): which thread
 * is in one since when. The time so far in each call is added to what is counted, exactly once: a
 * reading only adds it if the call was not counted yet. No total is lower than it was reported
 * before, even if a call returned between reading the two.
 */
#ifndef COLLECT_OPEN_CALLS_H
#define COLLECT_OPEN_CALLS_H

#include "base/error.h"
#include "collect/reading.h"

struct earlier_calls;
struct gpuprobe_bpf;
struct open_calls;

/* For a BPF object that outlives *out. Returns 0 or a negative errno with a message. */
int open_calls__new(const struct gpuprobe_bpf *skeleton, struct open_calls **out,
		    struct error *err);
void open_calls__free(struct open_calls *calls);

/* Calls from before gpuprobe started. The caller fills them in and keeps them up to date. */
struct earlier_calls *open_calls__earlier(struct open_calls *calls);

/*
 * Adds the calls in progress to the model, after the tallies, threads and functions of the profile
 * were read. Returns 0 or a negative errno.
 */
int open_calls__read(struct reading *reading);

/*
 * A thread of the process has ended inside a call. The call is left out if memory or room is
 * lacking.
 */
void open_calls__end(struct process *process, const struct record_unfinished *record);

/*
 * Adds a call from before gpuprobe started to its process's calls in progress. The call is left out
 * if memory or room is lacking.
 */
void open_calls__list_earlier(struct process *process, const struct open_call_record *record,
			      const struct stack *stack, uint64_t now_ns);

#endif
