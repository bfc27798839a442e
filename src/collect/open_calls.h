/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls in progress, read from their threads' own records (bpf/call/open_calls.bpf.h): who is in one since when, and the time in
 * it so far, which comes to what is counted. It is counted once: a reading takes it where the call had not been
 * counted yet, and no total comes out smaller than it was told before, though a call may have returned between the two.
 */
#ifndef COLLECT_OPEN_CALLS_H
#define COLLECT_OPEN_CALLS_H

#include "base/error.h"
#include "collect/reading.h"

struct earlier_calls;
struct gpuprobe_bpf;
struct open_calls;

/* Of an object that outlives it. Returns 0 or a negative errno with a message. */
int open_calls__new(const struct gpuprobe_bpf *skeleton, struct open_calls **out, struct error *err);
void open_calls__free(struct open_calls *calls);

/* Those from before gpuprobe came: to be filled in and kept up to date by the owner. */
struct earlier_calls *open_calls__earlier(struct open_calls *calls);

/*
 * Adds what is in progress to the model, once tallies, threads and functions of the profile have been read. Returns 0 or
 * a negative errno.
 */
int open_calls__read(struct reading *reading);

/* A thread of the process has ended inside a call. Without memory, or room, it is left out. */
void open_calls__end(struct process *process, const struct record_unfinished *record);

/* Adds a call from before gpuprobe came to those in progress of its process. Without memory, or room, it is left out. */
void open_calls__list_earlier(struct process *process, const struct open_call_record *record, const struct stack *stack,
			      uint64_t now_ns);

#endif
