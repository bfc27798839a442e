/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How calls are recorded: the records of a file (record/file.h) that are lines of the tracer
 * (trace/line.h). Numbers are varints; a text is its length + 1 and its bytes, or 0 for none.
 *
 * What calls share is written once and has an id from 1 on, in the same part:
 *
 *	RECORDED_PROCESS   id, number, pid, parent, uid, start_ns, image, comm, cgroup
 *	RECORDED_FUNCTION  id, layer, symbol
 *	RECORDED_KERNEL    id, name, label, mangled name, location
 *	RECORDED_STACK     id, flags (1 truncated, 2 broken), frames: count, then of each its kind,
 *	                   line, offset, function, object, file
 *	RECORDED_SHAPE     id, function, fields: count, then of each its form, role, 1 if cut, name
 *
 * Lines of NVTX ranges (LINE_RANGE) are recorded as calls are. Their duration is the range's.
 *
 * A call is most often like an earlier one, apart from its times. So its content has an id as well:
 *
 *	RECORDED_NEW_CALL  id, duration, held time, content
 *	RECORDED_CALL      id, duration, and the held time if it is not 0
 *
 *	content            kind of line, process, tid, depth, device + 1, shape, kernel, stack (0:
 *	                   none), result (zigzag), 1 if failed, then the fields' values: a varint
 *	                   (zigzag for FORM_SIGNED and FORM_WORD), 8 bytes of a real, 3 varints,
 *	                   or a length and bytes (FORM_WORDS: 8 a word). FORM_WORD has a length
 *	                   and bytes with a NUL as well
 *
 *	RECORDED_THREAD    process, tid, name: the thread has it from here on, until the part
 *	                   ends or the next RECORDED_THREAD of this thread; "" ends it
 *
 *	RECORDED_CALLS_PART number of the part: ids of another part mean nothing here. It is the
 *	                   first of calls in a chunk. Each keyframe begins a part, and so does an
 *	                   older file, which has no such records, and keeps ids up to the next one
 *
 *	RECORDED_LOSS      reason (enum trace_loss), number of lost calls
 *	RECORDED_CALLS_END struct recorded_calls_end: count, then its members
 *
 * The time of a record of a call or loss is the line's time.
 */
#ifndef RECORD_CALLS_H
#define RECORD_CALLS_H

#include <stdint.h>

/*
 * Ids of one kind in a part, and bytes of what they stand for. The writer begins a new part before
 * it needs more, a reader refuses more.
 */
#define DICTIONARY_IDS_MAX 65536u
#define DICTIONARY_BYTES_MAX (32u << 20)

/* Enumerators of these tables are their records. */
enum {
	RECORDED_DICTIONARIES = 17
}; /* RECORDED_PROCESS to RECORDED_NEW_CALL, RECORDED_GPU_SHAPE, and none for the others */

/* What the tracer counted. New members come at the end. */
struct recorded_calls_end {
	uint64_t calls, lost, unfinished, unfollowed, malformed, evicted, unknown_stacks;
	uint64_t losses[6]; /* by enum trace_loss, those before TRACE_LOST_RANGE */
	uint64_t skipped_libraries;
	uint64_t before;	/* calls that had begun before attach */
	uint64_t dropped;	/* calls that the file has no room for: --max-size, a full disk */
	uint64_t gpu_work_lost; /* pieces of GPU work that are not in the file */
	uint64_t lost_ranges;	/* by TRACE_LOST_RANGE */
};

#endif
