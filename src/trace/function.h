/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that can be traced: the rows of the API table, followed by functions that a library
 * exports and the table does not know. Each has a plan by which the BPF programs record its calls
 * (include/gpuprobe/trace.h), and steps that turn the recorded words and blocks into fields of a
 * line.
 */
#ifndef TRACE_FUNCTION_H
#define TRACE_FUNCTION_H

#include "base/error.h"
#include "trace/line.h"

struct trace_function;
struct trace_functions; /* all of them */

/*
 * Creates the functions of the table. With `kernel_args`, launches also record the words that lead
 * to the kernel arguments. Returns NULL if out of memory.
 */
struct trace_functions *trace_functions__new(bool kernel_args);
void trace_functions__free(struct trace_functions *functions);

size_t trace_functions__count(const struct trace_functions *functions);

/* Returns NULL for a row that does not exist. Valid as long as `functions`. */
const struct trace_function *trace_functions__at(const struct trace_functions *functions,
						 uint32_t row);

/*
 * Returns the row of a function that the table does not know, by its symbol: an old one or a new
 * one, with six raw arguments. A repeated symbol gives the same row. Returns -ENOSPC if
 * MAX_FUNCTIONS rows are in use, or -ENOMEM.
 */
int trace_functions__add(struct trace_functions *functions, const char *symbol, enum layer layer);

/*
 * Adds the functions of NVTX (gpuprobe/nvtx.h), which have lines of kind LINE_RANGE. Returns 0, or
 * as trace_functions__add.
 */
int trace_functions__add_ranges(struct trace_functions *functions);

/* Returns NULL if trace_functions__add_ranges was not called, or for no such function. */
const struct trace_function *trace_functions__range(const struct trace_functions *functions,
						    unsigned int function);

/* "cudaMalloc", "cudaMemcpy_ptds": the name as exported. */
const char *trace_function__symbol(const struct trace_function *function);
enum layer trace_function__layer(const struct trace_function *function);
enum operation trace_function__operation(const struct trace_function *function);
enum trace_returns trace_function__returns(const struct trace_function *function);

/* Its plan, with everything that is needed to print its arguments. */
const struct trace_plan *trace_function__plan(const struct trace_function *function);

/* The stack id of an event that has one; 0 if the stack could not be captured. */
uint64_t trace_function__stack(const struct trace_function *function,
			       const struct trace_event *event, size_t size);

/*
 * Decodes an event of `size` bytes into line->fields and ->field_count, in display order: grid,
 * block, shmem and stream of a launch; otherwise the arguments in C order, followed by what was
 * read at return. Parts that do not fit the event's size (a hostile or damaged record) are left
 * out. The fields point into the event. `kernel_args` is config.kernel_args; `has_stack`: the event
 * has a stack id. Sets *handle to the handle for looking up the kernel's name: the driver's if it
 * was seen, otherwise the function's own; 0 if the call is no launch.
 */
void trace_function__decode(const struct trace_function *function, const struct trace_event *event,
			    size_t size, unsigned int kernel_args, bool has_stack,
			    struct trace_line *line, uint64_t *handle);

/*
 * The address by which the program itself identified the kernel (of a host function, or a handle);
 * 0 if the call is no launch.
 */
uint64_t trace_function__launched(const struct trace_function *function,
				  const struct trace_event *event, size_t size);

/*
 * "cudaErrorMemoryAllocation"; NULL if the code has no name, or the function does not return an
 * error.
 */
const char *trace_function__result_name(const struct trace_function *function, int32_t result);

/* Whether a call with this result has failed. */
bool trace_function__is_failure(const struct trace_function *function, int32_t result);

#endif
