/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uprobe events of tracefs, for kernels without uprobe_multi: one event holds
 * many sites, since a perf event per function takes 0.1 s each to detach.
 *
 * Definitions outlive the process that wrote them. They are grouped under
 * gpuprobe_PID_GUARD_NAMESPACE_MS, so that what a killed gpuprobe left is found and
 * removed, by a guard process or, where that was killed too, by the next
 * gpuprobe in that pid namespace or, where no process is in that any more, in the
 * machine's first one. Both have the events open, and that both are dead must be
 * certain: the kernel frees the sites of an event that is removed while it is
 * open, but for one, with their breakpoints in place, and then crashes. MS, the
 * time since boot, is what no other gpuprobe has in common: a new namespace gets
 * the number of a dead one, and its first processes the same pids.
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

/* Does not remove events: tracefs__remove does, once nothing uses them. */
void tracefs__free(struct tracefs *tracefs);

/*
 * Defines event number `event` with `count` sites of the file that this
 * process has open as `fd`, and opens it. Returns the perf event's
 * descriptor or a negative errno; on failure nothing is left defined.
 */
int tracefs__add(struct tracefs *tracefs, unsigned int event, bool on_return, int fd, const uint64_t *offsets,
		 size_t count, struct error *err);

/* Takes the probes out of the events from number `first` on, whose descriptors have been closed. */
void tracefs__close(struct tracefs *tracefs, unsigned int first);

/* Removes the definition of an event that has been closed. */
void tracefs__remove(struct tracefs *tracefs, unsigned int event);

#endif
