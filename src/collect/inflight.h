/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many of a stream's asynchronous copies are not covered by a wait, and a lower bound of the
 * speed of the others. struct stream_record in gpuprobe/state/streams.h explains the scheme.
 */
#ifndef COLLECT_INFLIGHT_H
#define COLLECT_INFLIGHT_H

#include "gpuprobe/state.h"
#include "model/model.h"

/*
 * Adds the copies in flight on `stream` to the process's `inflight`, and copies that a wait has
 * covered but the BPF programs have not settled yet to its `covered`. `context` is the record of
 * the stream's context or NULL; `now_ns` is used for ages. Copies issued before `unseen_ns` get no
 * speed, because calls were missed since then.
 */
void inflight__add(struct process *process, const struct stream_record *stream,
		   const struct context_record *context, uint64_t now_ns, uint64_t unseen_ns);

#endif
