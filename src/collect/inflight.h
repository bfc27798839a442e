/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a stream's asynchronous copies no wait has covered, and how fast
 * the others were at least; the scheme is told at struct stream_record in
 * gpuprobe/state.h.
 */
#ifndef COLLECT_INFLIGHT_H
#define COLLECT_INFLIGHT_H

#include "gpuprobe/state.h"
#include "model/model.h"

/*
 * Adds what is in flight on `stream` to the process's `inflight`, and what a
 * wait has covered but the BPF programs have not settled yet to its `covered`.
 * `context` is the record of the stream's context or NULL; `now_ns` gives ages.
 * What was issued before `unseen_ns` has no speed: calls were missed since.
 */
void inflight__add(struct process *process, const struct stream_record *stream,
		   const struct context_record *context, uint64_t now_ns, uint64_t unseen_ns);

#endif
