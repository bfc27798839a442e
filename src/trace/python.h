/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Python frames of traced calls: tells the BPF programs where processes have
 * theirs, reads what the frames are called while the processes are there, and
 * puts them into stacks.
 */
#ifndef TRACE_PYTHON_H
#define TRACE_PYTHON_H

#include "base/log.h"
#include "symbol/python_process.h"
#include "trace/line.h"
#include "trace/source.h"

/* Frames of a stack with those of Python, the most; with a mark that some are missing. */
#define TRACE_MERGED_MAX (TRACE_STACK_MAX + PYTHON_FRAMES_MAX + 1)

struct trace_python;

/* `source` and `log` must outlive it. NULL without memory. */
struct trace_python *trace_python__new(struct trace_source *source, const struct log *log);
void trace_python__free(struct trace_python *python);

/*
 * Looks for an interpreter in a process that runs, is another program now
 * (`exec`), or has loaded libraries.
 */
void trace_python__look_at(struct trace_python *python, pid_t pid, bool exec);

/* The process makes calls that are traced: says so where its Python frames cannot be had. */
void trace_python__announce(struct trace_python *python, const struct trace_process *process);

/*
 * Reads the code objects of an event's frames that are not known: `frames` is
 * unaligned, `count` of them, as they are in the event.
 */
void trace_python__see(struct trace_python *python, const struct trace_process *process,
		       const struct python_frame *frames, uint32_t count);

/*
 * Puts the frames into line->stack and line->frames, which are the native ones
 * before. The line's arrays are valid until the next call.
 */
void trace_python__merge(struct trace_python *python, struct trace_line *line, const struct python_frame *frames,
			 uint32_t count);

#endif
