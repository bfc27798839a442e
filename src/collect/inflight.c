// SPDX-License-Identifier: BSD-2-Clause
// Sums up a stream's uncovered segments, see inflight.h.
#include "collect/inflight.h"

static void add_segment(struct copy_inflight inflight[COPY_KINDS], const struct stream_segment *segment,
			uint64_t now_ns)
{
	for (int kind = 0; kind < COPY_KINDS; kind++) {
		uint64_t issued = segment->oldest_ns[kind];
		uint64_t age = now_ns > issued ? now_ns - issued : 0;

		if (!segment->calls[kind])
			continue;
		inflight[kind].calls += segment->calls[kind];
		inflight[kind].bytes += segment->bytes[kind];
		if (age > inflight[kind].oldest_ns)
			inflight[kind].oldest_ns = age;
	}
}

void inflight__add(struct copy_inflight inflight[COPY_KINDS], const struct stream_record *stream,
		   const struct context_record *context, uint64_t now_ns)
{
	uint64_t covered = stream->covered;

	if (context && context->covered > covered)
		covered = context->covered;
	for (int i = 0; i < SEGMENTS; i++)
		if (stream->segments[i].epoch && stream->segments[i].epoch >= covered)
			add_segment(inflight, &stream->segments[i], now_ns);
}
