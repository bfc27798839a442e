/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a trace, one row each, in the order of `-o all`. A COLUMN shows the line itself;
 * an ARGUMENT shows the call's argument with the role TRACE_<id>.
 *
 *	COLUMN(id, word, width, types, text, value)
 *	ARGUMENT(id, word, width, types, text)
 *
 * id: the enumerator is COLUMN_<id>, and the heading in the table is <id>
 * word: the word for -o, the heading in TSV, the key in JSON
 * width: of the column in the table; 0: --timestamps decides
 * types, text: of the value in the JSON schema, see schema.c; an argument may also be null or
 *	unreadable
 * value: writes the column's value for `view` and its `line` at `at`, and returns the end
 *	of it. The write_* functions are in cell.c for text and in json.c for JSON.
 */
#ifndef OUTPUT_TRACE_COLUMN_LIST_H
#define OUTPUT_TRACE_COLUMN_LIST_H

#define TRACE_TIME_TEXT \
	"in the form of --timestamps: relative, milliseconds since the beginning of the trace; " \
	"delta, milliseconds " \
	"since the line before; ns, nanoseconds of CLOCK_BOOTTIME; wall and iso, a text"

/* clang-format off */
#define TRACE_COLUMNS(COLUMN, ARGUMENT) \
	COLUMN(TIME, "time", 0, TYPE_NUMBER | TYPE_STRING, \
	       "when the call began (in lines return and resumed: when it returned; before_attach: when tracing " \
	       "began, or the line before has it), " TRACE_TIME_TEXT, \
	       write_time(view, line->start_ns, at)) \
	COLUMN(END, "end", 0, TYPE_NUMBER | TYPE_STRING | TYPE_NULL, \
	       "when the call returned, null where it has not, " TRACE_TIME_TEXT, \
	       trace_line__has_end(line) ? write_time(view, trace_line__end_ns(line), at) : write_unknown(at)) \
	COLUMN(PROCESS, "process", 16, TYPE_STRING, \
	       "the process's name; bytes that are no UTF-8 as U+FFFD, here and elsewhere", \
	       write_process(view->process, at)) \
	COLUMN(PID, "pid", 7, TYPE_INTEGER, "the process", \
	       trace_text__copy(at, view->process->pid, view->process->pid_length)) \
	COLUMN(PPID, "ppid", 7, TYPE_INTEGER, "its parent, 0 where that is not known", \
	       trace_text__signed(at, line->process->parent)) \
	COLUMN(TID, "tid", 7, TYPE_INTEGER | TYPE_NULL, \
	       "the thread that called; of a GPU's work the one that submitted it, null where that is not known", \
	       line->kind == LINE_GPU && !line->tid ? write_unknown(at) : trace_text__signed(at, line->tid)) \
	COLUMN(UID, "uid", 6, TYPE_INTEGER, "the process's real user", trace_text__unsigned(at, line->process->uid)) \
	COLUMN(CGROUP, "cgroup", 24, TYPE_STRING | TYPE_NULL, "the path of the process's cgroup", \
	       write_text(line->process->cgroup, at)) \
	COLUMN(DEVICE, "device", 6, TYPE_INTEGER | TYPE_NULL, "the device as the process counts them", \
	       line->device < 0 ? write_unknown(at) : trace_text__signed(at, line->device)) \
	COLUMN(LAYER, "layer", 7, TYPE_STRING, "runtime or driver; gpu of a GPU's work", \
	       write_text(line->kind == LINE_GPU ? "gpu" : enum_names__layer(view->function->layer), at)) \
	COLUMN(EVENT, "event", 22, TYPE_STRING, \
	       "the function; of a GPU's work gpu_kernel, gpu_copy, gpu_set, gpu_graph or gpu_graph_kernel", \
	       write_event(view, at)) \
	COLUMN(DETAILS, "details", 68, TYPE_OBJECT, "the arguments by their names, and for a launch its kernel", \
	       write_details(view, at)) \
	ARGUMENT(PTR, "ptr", 14, TYPE_ADDRESS, "what is allocated, freed or set") \
	ARGUMENT(SIZE, "size", 12, TYPE_INTEGER, "bytes") \
	ARGUMENT(DST, "dst", 14, TYPE_ADDRESS, "where a copy goes") \
	ARGUMENT(SRC, "src", 14, TYPE_ADDRESS, "where a copy comes from") \
	ARGUMENT(KIND, "kind", 7, TYPE_STRING | TYPE_INTEGER, "the kind of a copy: H2D, D2H, …") \
	COLUMN(BW, "bw", 10, TYPE_INTEGER | TYPE_NULL, "bytes per second of a synchronous copy that succeeded", \
	       write_bandwidth(view, at)) \
	COLUMN(KERNEL, "kernel", 24, TYPE_STRING | TYPE_NULL, \
	       "the kernel's readable name; null for what is no launch", \
	       write_text(kernel_of(view), at)) \
	ARGUMENT(GRID, "grid", 14, TYPE_DIMS, "blocks of a launch: x, y, z") \
	ARGUMENT(BLOCK, "block", 14, TYPE_DIMS, "threads of a block: x, y, z") \
	ARGUMENT(SHMEM, "shmem", 6, TYPE_INTEGER, "bytes of dynamic shared memory of a block") \
	ARGUMENT(STREAM, "stream", 14, TYPE_ADDRESS | TYPE_INTEGER, \
		 "the stream's handle; 0x0: the default stream; of a GPU's work its number") \
	ARGUMENT(ARGS, "args", 24, TYPE_ADDRESSES, "the first arguments of the kernel as words of 64 bits") \
	COLUMN(STACK, "stack", 40, TYPE_STRINGS | TYPE_NULL, \
	       "the frames that the call came from, innermost first: FUNCTION+0xOFFSET [OBJECT] FILE:LINE " \
	       "without the line where it is not known, OBJECT+0xOFFSET where no function is, an address " \
	       "where nothing is mapped; FUNCTION (FILE:LINE) of Python's; null where it is not known", \
	       line->kind == LINE_GPU ? write_unknown(at) : write_stack(view->stack, at)) \
	COLUMN(DURATION, "duration", 8, TYPE_INTEGER | TYPE_NULL, \
	       "nanoseconds that the call took; so far where it has not returned; null at its entry and where it " \
	       "is not known", \
	       write_duration(view, at)) \
	COLUMN(RESULT, "result", 12, TYPE_STRING | TYPE_NULL, \
	       "the error code's name, or `error N` for one without; a value in hexadecimal where the " \
	       "function returns no error; null where it has not returned or returns nothing", \
	       write_result(view, at))
/* clang-format on */

#endif
