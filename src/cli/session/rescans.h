/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules repeated looks at the mappings of processes. A process may map tens of thousands of
 * files, or files with long paths, and keep reporting new libraries; it must not take all of
 * gpuprobe's time. So processes whose mappings take long to read wait for each other, and share a
 * tenth of the time. An unfinished look continues when it is ready, after others had their turn.
 * Every dropped look is reported.
 */
#ifndef CLI_RESCANS_H
#define CLI_RESCANS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/attacher.h"

struct event_base;
struct rescans;

/* A look at a process, with the arguments of attacher__add_process. */
struct rescan {
	pid_t pid;
	enum process_scan scan;
	uint64_t since_ns;
	/*
	 * a time at which the pid was this process's, CLOCK_BOOTTIME; the process may have started
	 * after since_ns
	 */
	uint64_t there_ns;
	/* the process whose memory it shares and to which its calls are counted; 0: itself */
	pid_t shares;
	/*
	 * the process was running meanwhile and may have ended; callers of rescans__add leave it
	 * unset
	 */
	bool waited;
};

struct rescans_hooks {
	/*
	 * Looks at the process. Returns the time that reading its mappings took,
	 * attacher__reading_ns. Sets *ready_ns to 0, or to the time at which the look should
	 * continue, see attacher__is_unfinished.
	 */
	uint64_t (*look)(const struct rescan *rescan, uint64_t *ready_ns, void *arg);
	/* A postponed look at the process is dropped. */
	void (*missed)(const struct rescan *rescan, void *arg);
	void *arg;
};

/* rescans__add, the loop and rescans__end call the hooks. NULL without memory. */
struct rescans *rescans__new(struct event_base *loop, const struct rescans_hooks *hooks);
void rescans__free(struct rescans *rescans);

/*
 * Looks at the process, now or later. Of several pending looks at a process only one is made, which
 * covers the others. Looks at a program that another program (SCAN_PROGRAM) has replaced are not
 * covered: they are missed. `now_ns` is CLOCK_BOOTTIME.
 */
void rescans__add(struct rescans *rescans, const struct rescan *rescan, uint64_t now_ns);

/* The look was not finished: continues it at `ready_ns`. */
void rescans__go_on(struct rescans *rescans, const struct rescan *rescan, uint64_t ready_ns);

/* Ends all waiting: pending looks and later ones that would wait are missed. */
void rescans__end(struct rescans *rescans);

#endif
