/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where addresses of traced processes lie: "libfoo.so+0x1234", the offset
 * being from where the object begins in memory; and what they are as frames:
 * "grow_cache(Cache&, unsigned long)+0x41 [server] cache.cc:88", where no line
 * is known "malloc+0x1b [libc.so.6]", where no function is "server+0x1234".
 */
#ifndef TRACE_PLACES_H
#define TRACE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "trace/line.h"

struct trace_places;

/* NULL without memory. With `wants_frames` the objects' files are opened at first sight; `log`: see native_frames__new. */
struct trace_places *trace_places__new(bool wants_frames, const struct log *log);
void trace_places__free(struct trace_places *places);

/* Reads a process's mappings if that was not done or they have changed: while it is there. */
void trace_places__see(struct trace_places *places, const struct trace_process *process, uint64_t now);

/*
 * The same for an event with a stack, that of `line`, made when the process had
 * mapped so many pages of code (0: not known): read again when that has changed, as
 * by dlopen and dlclose, and now and then where an address lies in no mapping.
 */
void trace_places__see_stack(struct trace_places *places, const struct trace_process *process,
			     const struct trace_line *line, uint64_t code_pages, uint64_t now);

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

/* The same as a frame, for a return address; only where frames are wanted. */
const char *trace_places__frame(struct trace_places *places, const struct trace_process *process, uint64_t address,
				uint64_t now);

#endif
