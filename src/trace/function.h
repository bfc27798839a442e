/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that can be traced: the rows of the API table, and after them
 * functions that a library exports and the table does not know. For each: the
 * plan by which the BPF programs keep its calls (include/gpuprobe/trace.h),
 * and how the kept words and blocks become fields of a line.
 */
#ifndef TRACE_FUNCTION_H
#define TRACE_FUNCTION_H

#include "base/error.h"
#include "trace/line.h"

struct trace_function;
struct trace_functions; /* all of them */

/*
 * The functions of the table. With `kernel_args` launches keep the words by
 * which kernel arguments are found. NULL without memory.
 */
struct trace_functions *trace_functions__new(bool kernel_args);
void trace_functions__free(struct trace_functions *functions);

size_t trace_functions__count(const struct trace_functions *functions);

/* NULL for a row that does not exist. Valid as long as the functions are. */
const struct trace_function *trace_functions__at(const struct trace_functions *functions, uint32_t row);

/*
 * The row of a function that the table does not know, by its symbol: an old
 * one or a new one, with six raw arguments. Asked again, the same row. -ENOSPC
 * when MAX_FUNCTIONS rows are in use, -ENOMEM.
 */
int trace_functions__add(struct trace_functions *functions, const char *symbol, enum layer layer);

/* "cudaMalloc", "cudaMemcpy_ptds": the name as exported. */
const char *trace_function__symbol(const struct trace_function *function);
enum layer trace_function__layer(const struct trace_function *function);
enum operation trace_function__operation(const struct trace_function *function);
enum trace_returns trace_function__returns(const struct trace_function *function);

/* Its plan, with all that is kept for showing its arguments. */
const struct trace_plan *trace_function__plan(const struct trace_function *function);

/* The id of the stack, of an event that has one; 0: it could not be taken. */
uint64_t trace_function__stack(const struct trace_function *function, const struct trace_event *event, size_t size);

/*
 * The fields of an event of `size` bytes in the order in which they are shown:
 * a launch's grid, block, shmem, stream; else the arguments in C order and
 * after them what was read at return. What does not fit the event's size (a
 * hostile or damaged record) is left out. Points into the event. `kernel_args`
 * is config.kernel_args, `has_stack` whether a stack's id is in it.
 * Fills line->fields and ->field_count only. *handle is
 * the handle by which the kernel's name is to be looked up: the driver's where it
 * was seen, else the function's own; 0 where it is no launch.
 */
void trace_function__decode(const struct trace_function *function, const struct trace_event *event, size_t size,
			    unsigned int kernel_args, bool has_stack, struct trace_line *line, uint64_t *handle);

/* The address that the program itself named the kernel by (a host function's, or a handle); 0: no launch. */
uint64_t trace_function__launched(const struct trace_function *function, const struct trace_event *event, size_t size);

/* "cudaErrorMemoryAllocation"; NULL for a code without a name and where no error is returned. */
const char *trace_function__result_name(const struct trace_function *function, int32_t result);

/* Whether a call with this result has failed. */
bool trace_function__is_failure(const struct trace_function *function, int32_t result);

#endif
