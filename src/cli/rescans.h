/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When what a process maps is looked at again. A process that maps ten thousands of files, or such as have long paths,
 * and tells of a new library without end, must not have all of gpuprobe's time: those whose mappings take long to be
 * read wait for each other, so that they have a tenth of the time together. Nothing is dropped.
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
};

/* Looks at the process. Returns the time that its mappings took to be read, attacher__reading_ns. */
typedef uint64_t (*rescan_fn)(const struct rescan *rescan, void *arg);

/* `fn` is called by rescans__add, and later by the loop. NULL without memory. */
struct rescans *rescans__new(struct event_base *loop, rescan_fn fn, void *arg);
void rescans__free(struct rescans *rescans);

/* Looks at the process, now or later; of several looks that wait one is made, which stands for all. `now_ns`: CLOCK_BOOTTIME. */
void rescans__add(struct rescans *rescans, const struct rescan *rescan, uint64_t now_ns);

#endif
