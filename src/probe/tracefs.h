/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uprobe events of tracefs, for kernels without uprobe_multi. One event has many sites, because one
 * perf event per function would take 0.1 s each to detach.
 *
 * Definitions outlive the process that wrote them. They are grouped under
 * gpuprobe_PID_GUARD_NAMESPACE_MS, so that those of a killed gpuprobe can be found and removed. A
 * guard process does this. If the guard was killed too, the next gpuprobe in that pid namespace
 * does; if that namespace has no process any more, the next one in the machine's first namespace
 * does.
 *
 * gpuprobe and its guard have the events open, and both must be known to be dead before the events
 * are removed: if an event is removed while it is open, the kernel frees its sites except one with
 * their breakpoints in place, and then crashes. MS, the time since boot, makes the group unique: a
 * new namespace may get the number of a dead one, and its first processes the same pids.
 */
#ifndef PROBE_TRACEFS_H
#define PROBE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tracefs;

/* Finds (or mounts) tracefs and removes what dead gpuprobes have left there. */
int tracefs__new(struct tracefs **out, struct error *err);

/* Does not remove events: call tracefs__remove once nothing uses them. */
void tracefs__free(struct tracefs *tracefs);

/* Sites of an event. */
struct tracefs_sites {
	const uint64_t *offsets;
	/* file offsets of 16-bit counters, raised while the event is open; 0, or NULL: none */
	const uint64_t *counters;
	size_t count;
};

/*
 * Defines event number `event` with these sites of the file that this process has open as `fd`, and
 * opens it. Returns the perf event's descriptor or a negative errno; on failure nothing stays
 * defined.
 */
int tracefs__add(struct tracefs *tracefs, unsigned int event, bool on_return, int fd,
		 const struct tracefs_sites *sites, struct error *err);

/*
 * Detaches the probes of the events from number `first` on, whose descriptors the caller has
 * closed.
 */
void tracefs__close(struct tracefs *tracefs, unsigned int first);

/* Removes the definition of an event that has been closed. */
void tracefs__remove(struct tracefs *tracefs, unsigned int event);

#endif
