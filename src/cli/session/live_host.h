/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of a live model that follows threads between their CUDA calls (host/watch.h): it reports
 * why the GPU waits. Without it, or if the kernel does not allow it, the rest of the model works.
 */
#ifndef CLI_LIVE_HOST_H
#define CLI_LIVE_HOST_H

#include "base/error.h"
#include "base/log.h"
#include "model/host.h"

struct collector;
struct event;
struct event_base;
struct gpuprobe_bpf; /* the generated skeleton */
struct host_watch;

/* All zero at first. */
struct live_host {
	struct collector *collector;
	unsigned int rate;
	struct host_watch *watch;    /* NULL: no thread is followed */
	struct host_side unfollowed; /* with `lack`, if threads cannot be followed */
	struct error lack;
	struct event *look;
};

/*
 * Prepares to follow threads with `rate` samples a second; 0: none. If that is impossible, warns
 * with the reason. `skeleton` and `collector` must outlive it, and it must not move.
 */
void live_host__begin(struct live_host *host, unsigned int rate,
		      const struct gpuprobe_bpf *skeleton, struct collector *collector,
		      const struct log *log);

/* From here on the loop looks at the threads. Returns 0, or -1 without memory. */
int live_host__start(struct live_host *host, struct event_base *loop);

/* Looks at the threads now. */
void live_host__look(struct live_host *host);

/* Puts what threads did into the collector's model; call it after each reading. */
void live_host__refresh(struct live_host *host);

void live_host__end(struct live_host *host);

#endif
