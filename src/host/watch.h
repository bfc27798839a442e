/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the threads that submit work to GPUs, and those that wake them, while a monitor counts their calls: finds them,
 * samples them, and tells what they did with their time. In this order: new, look as often as WATCH_PERIOD_NS says, tell;
 * free before the monitor's object is gone.
 */
#ifndef HOST_WATCH_H
#define HOST_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/host.h"
#include "model/steady.h"

/* A program's start, with its modules, first launches and tuning, is no part of how it goes on. */
#define START_NS 2000000000
#define WATCH_PERIOD_NS 200000000 /* of host_watch__look */
#define HOST_RATE 99		  /* by default, samples a second of a thread's time on a CPU: not in step with what is done each 10 ms */

struct gpuprobe_bpf; /* the skeleton, generated */
struct host_watch;
struct stacks;

struct host_watch_options {
	unsigned int rate;     /* samples a second */
	struct stacks *stacks; /* what names stacks, shared with the monitor; NULL: none are taken */
	/* A process's threads are about to be followed: what its stacks are read by is to be looked up. */
	void (*see_process)(pid_t pid, void *arg);
	/* Whether the process's start is watched, too: its threads are left alone for START_NS from their first call on. */
	bool (*is_seen_from_start)(pid_t pid, uint64_t start_ns, void *arg);
	/* Since when the process is steady, as known now. False: nothing new is known. */
	bool (*steady)(pid_t pid, uint64_t start_ns, struct steady_marks *marks, void *arg);
	void *arg;
};

/* `monitor` and all of the options must outlive it. 0, or a negative errno with what the kernel or a right lacks. */
int host_watch__new(const struct gpuprobe_bpf *monitor, const struct host_watch_options *options, struct host_watch **out,
		    struct error *err);
void host_watch__free(struct host_watch *watch); /* NULL is fine */

/* Finds threads, and takes in what was counted. */
void host_watch__look(struct host_watch *watch);

/*
 * What threads did since they are followed, or since their process is steady: to be called after each reading of the model,
 * whose marks are taken here. Owned by the watch, valid until the next call of it. `final`: nothing is waited
 * for any more. What there is no memory for is missing.
 */
const struct host_side *host_watch__report(struct host_watch *watch, bool final);

#endif
