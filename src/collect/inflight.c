// SPDX-License-Identifier: BSD-2-Clause
// Sums up a stream's uncovered segments, see inflight.h.
#include "collect/inflight.h"

#include "base/saturate.h"

static void add_segment(struct copy_inflight inflight[COPY_KINDS],
			const struct stream_segment *segment, uint64_t now_ns)
{
	for (int kind = 0; kind < COPY_KINDS; kind++) {
		uint64_t issued = segment->oldest_ns[kind];
		uint64_t age = now_ns > issued ? now_ns - issued : 0;

		if (!segment->calls[kind])
			continue;
		inflight[kind].calls += segment->calls[kind];
		saturate__add(&inflight[kind].bytes, segment->bytes[kind]);
		if (age > inflight[kind].oldest_ns)
			inflight[kind].oldest_ns = age;
	}
}

static void add_covered(struct covered_totals covered[COPY_KINDS],
			const struct stream_segment *segment, uint64_t covered_ns,
			uint64_t unseen_ns)
{
	for (int kind = 0; kind < COPY_KINDS; kind++) {
		/*
		 * A wait ends after the copies that it covers were issued. If not, the record was
		 * being changed.
		 */
		if (!segment->calls[kind] || covered_ns <= segment->oldest_ns[kind])
			continue;
		/*
		 * Other copies may have been missed, and so may the wait that covered these first.
		 */
		if (segment->oldest_ns[kind] < unseen_ns)
			continue;
		covered[kind].calls += segment->calls[kind];
		saturate__add(&covered[kind].bytes, segment->bytes[kind]);
		covered[kind].ns += covered_ns - segment->oldest_ns[kind];
	}
}

void inflight__add(struct process *process, const struct stream_record *stream,
		   const struct context_record *context, uint64_t now_ns, uint64_t unseen_ns)
{
	uint64_t covered = stream->covered, covered_ns = stream->covered_ns;

	if (context && context->covered > covered) {
		covered = context->covered;
		covered_ns = context->covered_ns;
	}
	if (context && stream->blocking && context->blocking_covered > covered) {
		covered = context->blocking_covered;
		covered_ns = context->blocking_covered_ns;
	}
	for (int i = 0; i < SEGMENTS; i++) {
		const struct stream_segment *segment = &stream->segments[i];

		if (!segment->epoch)
			continue;
		if (segment->epoch < covered)
			add_covered(process->covered, segment, covered_ns, unseen_ns);
		else if (!process->ended && !(context && segment->epoch < context->died_epoch))
			add_segment(process->inflight, segment, now_ns);
	}
}
