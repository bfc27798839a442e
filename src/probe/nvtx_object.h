/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF object for NVTX ranges (bpf/nvtx.bpf.c) and its probes on libgpuprobe-nvtx.so. It shares
 * the watched processes and the threads' profiles with the monitor's object.
 */
#ifndef PROBE_NVTX_OBJECT_H
#define PROBE_NVTX_OBJECT_H

#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/nvtx.h"
#include "gpuprobe/state.h" /* the skeletons have its types */

struct gpuprobe_bpf; /* the generated skeleton */
struct nvtx_object;

/*
 * Loads the object for `monitor`, which must be loaded with a profile, and attaches it to the
 * library at `path` with this kind of link. Returns 0, or a negative errno with a message.
 */
int nvtx_object__new(const struct gpuprobe_bpf *monitor, enum link_kind links, const char *path,
		     struct nvtx_object **out, struct error *err);

/* Detaches. NULL ok. */
void nvtx_object__free(struct nvtx_object *object);

/* The descriptor of the map of its ring of names, which is readable while some wait. */
int nvtx_object__ring_fd(const struct nvtx_object *object);

typedef void (*nvtx_range_fn)(const struct nvtx_key *key, const struct nvtx_record *record,
			      void *arg);

/*
 * Calls `fn` for each name of ranges with its sums up to now. Nothing is counted of those of which
 * none has ended.
 */
void nvtx_object__each(const struct nvtx_object *object, nvtx_range_fn fn, void *arg);

typedef void (*nvtx_path_fn)(const struct nvtx_path_key *key, const struct nvtx_path *path,
			     void *arg);

/* With GPU times: calls `fn` for each path so far. */
void nvtx_object__each_path(const struct nvtx_object *object, nvtx_path_fn fn, void *arg);

/* What BPF could not keep so far, by enum nvtx_loss. */
void nvtx_object__lost(const struct nvtx_object *object, uint64_t lost[NVTX_LOSSES]);

#endif
