/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes map files named like CUDA's, on the whole machine. The source is the kernel's
 * records of executable mappings (PERF_RECORD_MMAP2, perf_event_open(2)). They cover every way to
 * map code: any loader, static programs, deleted files, memfds, mprotect. No process gets a
 * breakpoint for this.
 *
 * The records stay in a per-CPU buffer until they are read; they do not wake the reader. A CPU that
 * comes online later has no buffer.
 */
#ifndef PROBE_MAPPING_EVENTS_H
#define PROBE_MAPPING_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct mapping_events;

/* A process mapped a file as executable. */
struct mapping_event {
	pid_t pid; /* in gpuprobe's pid namespace */
	dev_t device;
	uint64_t inode;	  /* with `device`: as /proc/PID/maps shows them */
	uint64_t time_ns; /* CLOCK_BOOTTIME */
};

struct mapping_events_hooks {
	bool allocators; /* report libraries of frameworks' allocators, too */
	bool handles;	 /* the same for libraries above CUDA that make handles */
	void (*mapped)(const struct mapping_event *event, void *arg);
	/* `count` records, of any process and file, were lost since the last reading. */
	void (*lost)(uint64_t count, void *arg);
	void *arg;
};

/* Starts recording. CAP_PERFMON is enough. Returns 0 or a negative errno. */
int mapping_events__new(const struct mapping_events_hooks *hooks, struct mapping_events **out,
			struct error *err);
void mapping_events__free(struct mapping_events *events);

/* Calls the hooks for everything recorded since the last call. */
void mapping_events__read(struct mapping_events *events);

#endif
