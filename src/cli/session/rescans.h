/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When what a process maps is looked at again. A process that maps ten thousands of files, or such as have long paths,
 * and tells of a new library without end, must not have all of gpuprobe's time: those whose mappings take long to be
 * read wait for each other, so that they have a tenth of the time together. A look that was not finished is gone on with
 * when it is ready, after others have had their turn. No look is dropped without a word.
 */
#ifndef CLI_RESCANS_H
#define CLI_RESCANS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/attacher.h"

struct event_base;
struct rescans;

/* A look at a process, as attacher__add_process has it. */
struct rescan {
	pid_t pid;
	enum process_scan scan;
	uint64_t since_ns;
	uint64_t there_ns; /* when the pid was this process's, CLOCK_BOOTTIME; it may have begun after since_ns */
	pid_t shares;	   /* the process whose memory it has, and that its calls are counted to; 0: its own */
	bool waited;	   /* the process ran on meanwhile, and may have ended; rescans__add's caller leaves it */
};

struct rescans_hooks {
	/*
	 * Looks at the process. Returns the time that its mappings took to be read, attacher__reading_ns; *ready_ns is 0, or
	 * when it is to be looked at once more, see attacher__is_unfinished.
	 */
	uint64_t (*look)(const struct rescan *rescan, uint64_t *ready_ns, void *arg);
	/* The look at the process would have been made later, and is not. */
	void (*missed)(const struct rescan *rescan, void *arg);
	void *arg;
};

/* The hooks are called by rescans__add, by the loop, and by rescans__end. NULL without memory. */
struct rescans *rescans__new(struct event_base *loop, const struct rescans_hooks *hooks);
void rescans__free(struct rescans *rescans);

/*
 * Looks at the process, now or later. Of several looks that wait one is made, which stands for all but those at a
 * program that another (SCAN_PROGRAM) has followed: they are missed. `now_ns`: CLOCK_BOOTTIME.
 */
void rescans__add(struct rescans *rescans, const struct rescan *rescan, uint64_t now_ns);

/* The look has been made and was not finished: it is gone on with at `ready_ns`. */
void rescans__go_on(struct rescans *rescans, const struct rescan *rescan, uint64_t ready_ns);

/* No look waits any more: those that do, and those that would, are missed. */
void rescans__end(struct rescans *rescans);

#endif
