/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --gpu-times: gives COMMAND the library libgpuprobe-times.so, and sums up what comes from it while
 * the loop runs.
 */
#ifndef CLI_GPU_TIMES_WATCH_H
#define CLI_GPU_TIMES_WATCH_H

#include <stdbool.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "model/gpu_times.h"

struct event_base;
struct gpuprobe_bpf; /* the generated skeleton */
struct gpu_times_watch;

/*
 * Sets CUDA_INJECTION64_PATH, and GPU_TIMES_VARIABLE for the library, for what this process starts
 * from now on. The library records for the part `share` of the time; 0: all of it. With
 * `graph_nodes`, kernels in graphs have times instead of graphs; it does not go with a share.
 * Returns as injected_library__set.
 */
int gpu_times_watch__set_variables(double share, bool graph_nodes, struct error *err);

/* The path of the library that the variable names. */
const char *gpu_times_watch__library(void);

/*
 * Loads and attaches the probes for the library that the variable names, which records this share.
 * `monitor` must be loaded; it and `loop` must outlive the watch. Returns 0, or a negative errno
 * with a message.
 */
int gpu_times_watch__new(struct event_base *loop, const struct gpuprobe_bpf *monitor,
			 enum link_kind links, double share, struct gpu_times_watch **out,
			 struct error *err);

/* Before the loop. NULL ok. */
void gpu_times_watch__free(struct gpu_times_watch *watch);

/* Where the stacks of calls are to be found; `arg` must outlive the watch. */
void gpu_times_watch__name_stacks(struct gpu_times_watch *watch, site_stack_fn find, void *arg);

/* Sums up by NVTX ranges, too. */
void gpu_times_watch__sum_by_path(struct gpu_times_watch *watch);

/* The times up to now; valid until the loop runs on, or the next call. */
const struct gpu_times *gpu_times_watch__times(struct gpu_times_watch *watch);

#endif
