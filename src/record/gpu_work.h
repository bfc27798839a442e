/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the work of GPUs (LINE_GPU) is recorded, beside calls (record/calls.h):
 *
 *	RECORDED_GPU_SHAPE  id, process, kernel (0: none), kind, copy, device, stream, 0 or the
 *	                    thread of its call + 1: what pieces of work share
 *	RECORDED_GPU_WORK   shape, start since the record's time (zigzag), duration, with a call the
 *	                    start since the call's (zigzag), of copies and sets the bytes
 *
 * The time of these records is that of the latest line of a call: work comes late, and times of
 * records only grow.
 */
#ifndef RECORD_GPU_WORK_H
#define RECORD_GPU_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "record/bytes.h"
#include "trace/gpu_work.h"
#include "trace/line.h"

struct recorded_kernel; /* record/call_tables.h */

struct recorded_gpu_shape {
	const struct trace_process *process;
	const struct recorded_kernel *kernel; /* NULL: none, or unknown */
	struct trace_gpu_work work;	      /* but bytes and called_ns */
	pid_t tid;			      /* with work.has_call */
};

/* Appends what follows the id of a shape. `process` and `kernel` are ids. */
void recorded_gpu_work__put_shape(struct bytes *to, const struct trace_line *line, uint32_t process,
				  uint32_t kernel);

/* Reads it. *process and *kernel are ids, which the caller looks up. False: it is malformed. */
bool recorded_gpu_work__take_shape(struct varint_reader *from, struct recorded_gpu_shape *shape,
				   uint64_t *process, uint64_t *kernel);

/* Appends what follows the shape's id in a piece of work, whose record has that time. */
void recorded_gpu_work__put(struct bytes *to, const struct trace_line *line, uint64_t time_ns);

/* Fills `work` and the line's times from it. False: it is malformed. */
bool recorded_gpu_work__take(struct varint_reader *from, const struct recorded_gpu_shape *shape,
			     uint64_t time_ns, struct trace_gpu_work *work,
			     struct trace_line *line);

#endif
