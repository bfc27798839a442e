/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the calls of a recording refer to by id (record/calls.h), as a reader knows it: processes,
 * functions, kernels, stacks, shapes, contents, and shapes of GPU work since the last keyframe.
 */
#ifndef RECORD_CALL_TABLES_H
#define RECORD_CALL_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/calls.h"
#include "record/reader.h"
#include "trace/function.h"
#include "trace/line.h"

struct call_tables;

struct recorded_kernel {
	char *name, *label, *mangled, *location; /* NULL: unknown */
};

/* The fields of a line without their values. */
struct recorded_shape {
	const struct trace_function *function;
	size_t count; /* up to TRACE_FIELDS_MAX */
	struct {
		uint8_t form, role;
		bool cut;
		char *name;
	} fields[];
};

struct recorded_bytes {
	const uint8_t *at;
	size_t length;
};

/* As call_reader__new. NULL if out of memory. */
struct call_tables *call_tables__new(struct trace_functions *functions, bool full_names);
void call_tables__free(struct call_tables *tables);

/* Forgets everything, for a keyframe. Pointers of lines become invalid. */
void call_tables__clear(struct call_tables *tables);

/*
 * Adds what a record of RECORDED_PROCESS to RECORDED_SHAPE, or RECORDED_GPU_SHAPE, stands for.
 * Returns 0, -EINVAL if it is malformed, refers to what is unknown, or exceeds the limits, or
 * -ENOMEM.
 */
int call_tables__add(struct call_tables *tables, const struct recorded *record);

/* Adds a copy of a call's content. Returns false if it exceeds the limits, or without memory. */
bool call_tables__add_content(struct call_tables *tables, uint64_t id, const uint8_t *bytes,
			      size_t length);

/* Takes a RECORDED_THREAD. Returns as call_tables__add. */
int call_tables__name_thread(struct call_tables *tables, const struct recorded *record);

/* The name of a process's thread, or NULL. */
const char *call_tables__thread_name(const struct call_tables *tables,
				     const struct trace_process *process, pid_t tid);

/*
 * Returns what an id stands for: a struct trace_process, trace_function, recorded_kernel, stack,
 * recorded_shape, recorded_gpu_shape or, for RECORDED_NEW_CALL, recorded_bytes. NULL if it is
 * unknown.
 */
const void *call_tables__find(const struct call_tables *tables, enum recorded_kind kind,
			      uint64_t id);

/*
 * Whether a text is one of gpuprobe's own: what outputs print without escaping, as names of
 * arguments and constants.
 */
bool call_tables__is_word(const char *text, size_t length);

#endif
