/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF object that follows threads (bpf/host.bpf.c). It shares with the monitor's object the
 * maps for threads, stacks and losses, and its configuration.
 */
#ifndef PROBE_HOST_OBJECT_H
#define PROBE_HOST_OBJECT_H

#include "base/error.h"
#include "gpuprobe/state.h" /* the skeletons have its types */

struct gpuprobe_bpf; /* the generated skeletons */
struct host_bpf;

/*
 * Loads the object for `monitor`, which must be loaded and keep a profile. Attaches nothing. The
 * caller owns *skeleton (host_bpf__destroy). Returns 0, or a negative errno with the missing kernel
 * feature in `err`.
 */
int host_object__load(const struct gpuprobe_bpf *monitor, struct host_bpf **skeleton,
		      struct error *err);

/* Attaches to switches and wakeups: threads may be followed from now on. */
int host_object__attach(struct host_bpf *skeleton, struct error *err);

/*
 * Loads a separate object, attaches it, samples CPUs, and discards it. Returns 0, or the missing
 * feature as above.
 */
int host_object__try(struct error *err);

#endif
