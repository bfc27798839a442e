/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples threads that submit work to GPUs, and has BPF follow what the scheduler does with them: gpuprobe/host.h. Only
 * these threads, each by an event of its own; others pay a look-up at each switch while this is there.
 */
#ifndef PROBE_HOST_WATCH_H
#define PROBE_HOST_WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct gpuprobe_bpf;
struct host_watch;

#define HOST_THREADS 64 /* that are sampled at a time */
#define HOST_RATE_HZ 97 /* samples a second of a thread that runs: no multiple of what programs do at a round rate */

/*
 * The object was loaded with object_options' `host`, and must outlive it. Returns 0, or a negative errno with a text: what the
 * kernel or the rights lack.
 */
int host_watch__new(struct gpuprobe_bpf *skeleton, struct host_watch **out, struct error *err);

/* NULL is fine. Nobody is sampled any more. */
void host_watch__free(struct host_watch *watch);

/*
 * The thread is sampled from now on, if it is not; `start_ns` tells threads of one id apart. Returns 0, -ENOSPC where HOST_THREADS are, or a
 * negative errno: it has ended, or the kernel refuses.
 */
int host_watch__add(struct host_watch *watch, pid_t tid, uint64_t start_ns);

/*
 * Threads that have had Python's GIL while ones that submit waited for it are sampled from now on, too: their samples are HOST_HOLDER. Returns 0 or a
 * negative errno.
 */
int host_watch__add_holders(struct host_watch *watch);

/* The thread has ended, or is of no interest any more. */
void host_watch__remove(struct host_watch *watch, pid_t tid, uint64_t start_ns);

#endif
