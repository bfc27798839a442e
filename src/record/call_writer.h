/* SPDX-License-Identifier: BSD-2-Clause */
/* Records the lines of the tracer (record/calls.h). Memory is bounded by DICTIONARY_BYTES_MAX. */
#ifndef RECORD_CALL_WRITER_H
#define RECORD_CALL_WRITER_H

#include "record/calls.h"
#include "record/pseudonyms.h"
#include "record/writer.h"
#include "trace/line.h"

struct call_writer;

/* `file` and `pseudonyms` must outlive it. NULL: names are themselves. */
struct call_writer *call_writer__new(struct recording_writer *file, struct pseudonyms *pseudonyms);
void call_writer__free(struct call_writer *writer); /* NULL is fine */

/*
 * Begins a keyframe at least that often, in time and in bytes before compression; call it before
 * the first line. Without it: each minute, and 16 MiB.
 */
void call_writer__set_keyframes(struct call_writer *writer, uint64_t every_ns,
				uint64_t every_bytes);

/*
 * From here on the owner makes the keyframes, of something else, and says when: call it for each
 * one. It ends the current chunk; the owner's follows. Returns as call_writer__flush.
 */
int call_writer__keyframe(struct call_writer *writer);

/* Whether it is time for a keyframe because of the bytes since the latest one. */
bool call_writer__wants_keyframe(const struct call_writer *writer);

/*
 * Adds a line. Returns 0, -ENOMEM, or as recording_writer__add: then this line, and perhaps earlier
 * ones that were not yet written, are dropped; see call_writer__dropped.
 */
int call_writer__line(struct call_writer *writer, const struct trace_line *line);

/*
 * Writes what was added, at most once a second; UINT64_MAX: at once. Returns as
 * recording_writer__add.
 */
int call_writer__flush(struct call_writer *writer, uint64_t now_ns);

/* Lines that the file does not have because of an error: of calls and losses, and LINE_GPU. */
uint64_t call_writer__dropped(const struct call_writer *writer);
uint64_t call_writer__dropped_gpu_work(const struct call_writer *writer);

/*
 * Adds the counts at the end, also after RECORDING_FULL. recording_writer__close is called next.
 * Returns as recording_writer__add.
 */
int call_writer__end(struct call_writer *writer, uint64_t now_ns,
		     const struct recorded_calls_end *end);

#endif
