/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes map files named like CUDA's, on the whole machine: from the kernel's records of executable mappings
 * (PERF_RECORD_MMAP2, perf_event_open(2)), whoever makes them: any loader, static programs, deleted files, files
 * in memory, mprotect. Nobody's code has a breakpoint for that.
 *
 * The records lie in a buffer a CPU until they are read; none wakes the reader. A CPU that comes online later has none.
 */
#ifndef PROBE_MAPPING_EVENTS_H
#define PROBE_MAPPING_EVENTS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct mapping_events;

/* A process has mapped the code of a file. */
struct mapping_event {
	pid_t pid; /* in gpuprobe's pid namespace */
	dev_t device;
	uint64_t inode;	  /* and device: as /proc/PID/maps shows them */
	uint64_t time_ns; /* CLOCK_BOOTTIME */
};

struct mapping_events_hooks {
	void (*mapped)(const struct mapping_event *event, void *arg);
	/* So many records, of whatever process and file, found no room since the last reading. */
	void (*lost)(uint64_t count, void *arg);
	void *arg;
};

/* Begins to record. CAP_PERFMON is enough. Returns 0 or a negative errno. */
int mapping_events__new(const struct mapping_events_hooks *hooks, struct mapping_events **out, struct error *err);
void mapping_events__free(struct mapping_events *events);

/* Calls the hooks for all that has been recorded since the last call. */
void mapping_events__read(struct mapping_events *events);

#endif
