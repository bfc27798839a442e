/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where addresses of traced processes lie: "libfoo.so+0x1234", the offset
 * being from where the object begins in memory.
 */
#ifndef TRACE_PLACES_H
#define TRACE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/line.h"

struct trace_places;

/* NULL without memory. */
struct trace_places *trace_places__new(void);
void trace_places__free(struct trace_places *places);

/* Reads a process's mappings if that was not done or they have changed: while it is there. */
void trace_places__see(struct trace_places *places, const struct trace_process *process, uint64_t now);

/*
 * The process's mappings have changed. They are read at once, while it is there,
 * and again at its next event: a process may be gone before that is read.
 */
void trace_places__changed(struct trace_places *places, pid_t pid, uint64_t now);

/*
 * The text for an address, NULL where it lies in no file or without memory.
 * Valid until the next trace_places__see.
 */
const char *trace_places__find(struct trace_places *places, const struct trace_process *process, uint64_t address,
			       uint64_t now);

#endif
