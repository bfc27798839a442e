/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the work of GPUs out of a trace that Kineto, PyTorch's profiler, has written: Chrome's JSON
 * format, in pieces. The process that is profiled writes the file and may write anything. Memory
 * and the number of names are bounded.
 */
#ifndef KINETO_TRACE_READER_H
#define KINETO_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/gpu_times.h"
#include "model/gpu_times.h"

#define TRACE_READER_NAMES GPU_TIMES_KERNELS

struct trace_reader;

struct trace_reader_hooks {
	/*
	 * A kernel, copy or set. A kernel's `name` is the number that hooks.name was called with,
	 * or 0 beyond TRACE_READER_NAMES names.
	 */
	void (*work)(const struct gpu_work *work, void *arg);
	/* A new kernel's name, demangled, cut to GPU_TIMES_NAME_SIZE - 1 bytes. */
	void (*name)(uint64_t number, const char *text, void *arg);
	void *arg;
};

struct trace_summary {
	uint64_t events;      /* of all kinds */
	uint64_t overhead_ns; /* in which CUPTI held up a thread, by its own account */
	bool whole;	      /* the document is complete */
	bool has_events;      /* there is a list of events */
	uint64_t offset;      /* bytes read; of a damaged document up to the damage */
};

/* NULL without memory. */
struct trace_reader *trace_reader__new(const struct trace_reader_hooks *hooks);
void trace_reader__free(struct trace_reader *reader); /* NULL ok */

/* Reads more of the file. Returns 0, or -EINVAL if it is no JSON; nothing more is read then. */
int trace_reader__push(struct trace_reader *reader, const char *bytes, size_t size);

struct trace_summary trace_reader__summary(const struct trace_reader *reader);

#endif
