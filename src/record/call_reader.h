/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the calls of a recording (record/calls.h) as lines of the tracer. The file may be damaged
 * or hostile: numbers are checked, names that outputs do not escape must be plain, and memory is
 * bounded by DICTIONARY_BYTES_MAX.
 */
#ifndef RECORD_CALL_READER_H
#define RECORD_CALL_READER_H

#include <stdbool.h>

#include "record/calls.h"
#include "record/reader.h"
#include "trace/function.h"
#include "trace/line.h"

struct call_reader;

/*
 * `recording` and `functions` must outlive the reader, which adds functions that the table does not
 * know. `full_names`: the kernels' names are whole, as with launch_names__new. NULL if out of
 * memory.
 */
struct call_reader *call_reader__new(struct recording *recording, struct trace_functions *functions,
				     bool full_names);
void call_reader__free(struct call_reader *reader); /* NULL is fine */

/*
 * Reads the next line, which is valid until the next call. Returns 1, 0 at the end, or a negative
 * errno. Lines come in the order of their times, as the tracer shows them.
 */
int call_reader__next(struct call_reader *reader, struct trace_line *line);

/* What the tracer counted; NULL if its end was not read, because gpuprobe was killed. */
const struct recorded_calls_end *call_reader__end(const struct call_reader *reader);

/* Calls that refer to lost or malformed records, and malformed records. */
uint64_t call_reader__unreadable(const struct call_reader *reader);

#endif
