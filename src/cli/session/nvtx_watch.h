/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --nvtx: gives COMMAND the library libgpuprobe-nvtx.so, and reads what BPF sums up of its ranges.
 */
#ifndef CLI_NVTX_WATCH_H
#define CLI_NVTX_WATCH_H

#include "base/error.h"
#include "gpuprobe/state.h"
#include "model/nvtx_ranges.h"

struct event_base;
struct gpuprobe_bpf; /* the generated skeleton */
struct nvtx_watch;

/*
 * Sets NVTX_INJECTION64_PATH for what this process starts from now on. Returns as
 * injected_library__set.
 */
int nvtx_watch__set_variable(struct error *err);

/* The path of the library, after the variable has been set. */
const char *nvtx_watch__path(void);

/*
 * Loads and attaches the probes for the library that the variable names. `monitor` must be loaded;
 * it and `loop` must outlive the watch. Returns 0, or a negative errno with a message.
 */
int nvtx_watch__new(struct event_base *loop, const struct gpuprobe_bpf *monitor,
		    enum link_kind links, struct nvtx_watch **out, struct error *err);

/* Before the loop. NULL ok. */
void nvtx_watch__free(struct nvtx_watch *watch);

/*
 * The ranges up to now, with these GPU times, NULL ok; valid until the loop runs on, or the next
 * call.
 */
const struct nvtx_ranges *nvtx_watch__ranges(struct nvtx_watch *watch,
					     const struct gpu_times *times);

#endif
