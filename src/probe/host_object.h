/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF object that follows threads (bpf/host.bpf.c): it shares the maps of
 * the monitor's object for threads, stacks and losses, and its configuration.
 */
#ifndef PROBE_HOST_OBJECT_H
#define PROBE_HOST_OBJECT_H

#include "base/error.h"
#include "gpuprobe/state.h" /* the skeletons have its types */

struct gpuprobe_bpf; /* the skeletons, generated */
struct host_bpf;

/*
 * Loads the object beside `monitor`, which is loaded and keeps a profile. Nothing is attached. The caller owns
 * *skeleton (host_bpf__destroy). 0, or a negative errno with what the kernel lacks in `err`.
 */
int host_object__load(const struct gpuprobe_bpf *monitor, struct host_bpf **skeleton, struct error *err);

/* Attaches to switches and wakings: threads may be followed from now on. */
int host_object__attach(struct host_bpf *skeleton, struct error *err);

/* Loads an object of its own, attaches it, samples CPUs, and throws it away. 0, or what is lacking as above. */
int host_object__try(struct error *err);

#endif
