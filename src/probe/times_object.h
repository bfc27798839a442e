/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF object for GPU times (bpf/times.bpf.c) and its probes on libgpuprobe-times.so. It shares
 * the watched processes with the monitor's object, or the tracer's.
 */
#ifndef PROBE_TIMES_OBJECT_H
#define PROBE_TIMES_OBJECT_H

#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/gpu_times.h"
#include "gpuprobe/state.h" /* the skeletons have its types */

struct times_object;

/* What it shares with another object, which must be loaded. */
struct times_object_base {
	const struct config *config;
	int watched; /* the descriptor of its map of watched processes */
};

/*
 * Loads the object and attaches it to the library at `path` with this kind of link. Returns 0, or a
 * negative errno with a message.
 */
int times_object__new(const struct times_object_base *base, enum link_kind links, const char *path,
		      struct times_object **out, struct error *err);

/* Detaches. NULL ok. */
void times_object__free(struct times_object *object);

/* The descriptor of the map of its ring, which is readable while records wait. */
int times_object__ring_fd(const struct times_object *object);

/* What BPF could not hand over so far, by enum gpu_times_loss. */
void times_object__lost(const struct times_object *object, uint64_t lost[GPU_TIMES_LOSSES]);

#endif
