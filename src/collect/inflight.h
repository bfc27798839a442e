/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a stream's asynchronous copies no wait has covered; the scheme
 * is told at struct stream_record in gpuprobe/state.h.
 */
#ifndef COLLECT_INFLIGHT_H
#define COLLECT_INFLIGHT_H

#include "gpuprobe/state.h"
#include "model/model.h"

/*
 * Adds what is in flight on `stream` to `inflight`, by kind. `context` is the
 * record of the stream's context or NULL; `now_ns` gives ages.
 */
void inflight__add(struct copy_inflight inflight[COPY_KINDS], const struct stream_record *stream,
		   const struct context_record *context, uint64_t now_ns);

#endif
