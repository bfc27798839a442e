/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the threads that submit work to GPUs, and those that wake them, while a monitor counts
 * their calls: finds them, samples them, and reports what they did with their time. Call order:
 * new, then look every WATCH_PERIOD_NS, then tell. Free it before the monitor's object.
 */
#ifndef HOST_WATCH_H
#define HOST_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/host.h"
#include "model/steady.h"

/*
 * The start of a program, with its modules, first launches and tuning, is not typical of the rest.
 */
#define START_NS 2000000000
#define WATCH_PERIOD_NS 200000000 /* between calls of host_watch__look */
/*
 * Default samples per second of a thread's CPU time. 99 is not in step with work that is done every
 * 10 ms.
 */
#define HOST_RATE 99

struct gpuprobe_bpf; /* the generated skeleton */
struct host_watch;
struct stacks;

struct host_watch_options {
	unsigned int rate;     /* samples a second */
	struct stacks *stacks; /* names stacks, shared with the monitor; NULL: none captured */
	/*
	 * Called before a process's threads are followed, to look up what is needed to read its
	 * stacks.
	 */
	void (*see_process)(pid_t pid, void *arg);
	/*
	 * Whether the process's start is watched: its threads are then ignored for START_NS after
	 * their first call.
	 */
	bool (*is_seen_from_start)(pid_t pid, uint64_t start_ns, void *arg);
	/*
	 * Sets the time since which the process is steady. Returns false if nothing new is known.
	 */
	bool (*steady)(pid_t pid, uint64_t start_ns, struct steady_marks *marks, void *arg);
	void *arg;
};

/*
 * `monitor` and all that the options refer to must outlive it. Returns 0, or a negative errno with
 * the missing kernel feature or permission in `err`.
 */
int host_watch__new(const struct gpuprobe_bpf *monitor, const struct host_watch_options *options,
		    struct host_watch **out, struct error *err);
void host_watch__free(struct host_watch *watch); /* NULL is fine */

/* Finds threads and takes in the counts. */
void host_watch__look(struct host_watch *watch);

/*
 * Returns what threads did since they are followed, or since their process is steady. Call it after
 * each reading of the model, because it takes the model's marks. The watch owns the result, valid
 * until its next call. `final`: do not wait for anything any more. Data for which there is no
 * memory is missing.
 */
const struct host_side *host_watch__report(struct host_watch *watch, bool final);

#endif
