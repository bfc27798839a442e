/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts CUDA calls for the monitor and the other commands that use the same model: a session, the
 * BPF object with its probes, the collector, and the handling of ended processes. The owner decides
 * how to use the model.
 *
 * Call order: new, prepare, attach, session__run, then finish and free. Between prepare and attach
 * the owner sets up everything that may fail while no process has been touched.
 */
#ifndef CLI_LIVE_MODEL_H
#define CLI_LIVE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/targets.h"
#include "cli/session/session.h"
#include "cli/options/stack_options.h"
#include "finding/finding.h"
#include "gpuprobe/state.h"
#include "model/model.h"
#include "probe/selection.h"

struct live_model;
struct tensor_trace;
struct gpu_times;
struct nvtx_ranges;
struct gpuprobe_bpf; /* the generated skeleton */

struct live_model_limits {
	uint32_t max_processes, max_allocations, max_kernels, max_inflight;
	uint32_t max_tensors; /* 0: tensors are not watched */
};

/* Default limits. */
#define LIVE_MODEL_LIMITS \
	((struct live_model_limits){ \
		.max_processes = 4096, \
		.max_allocations = 1048576, \
		.max_kernels = 65536, \
		.max_inflight = 16384, \
	})

struct live_model_options {
	const struct targets *targets; /* must outlive the live model */
	double duration;	       /* seconds; 0: until stopped */
	/* as in struct session_hooks, with late_arg. Optional */
	void (*late)(pid_t pid, uint64_t time_ns, void *arg);
	void *late_arg;
	unsigned int grace_ms; /* as there */
	unsigned int sections; /* enum section: probed and read */
	enum api_mode api;
	/*
	 * NEEDS_* to meet, see finding/finding.h; for NEEDS_PROFILE every launch's result is
	 * checked
	 */
	unsigned int needs;
	/*
	 * With NEEDS_PROFILE: called for each period in which a device was idle; NULL: idle times
	 * are only summed up
	 */
	void (*idle_time)(const struct process *process, const struct record_idle *record,
			  void *arg);
	void *idle_arg;
	/* detect steps in at most this many threads, at most STEP_RECORDS; 0: off */
	uint32_t steps;
	/* with `nvtx`: steps are the ranges of this name; NULL: what is submitted repeatedly */
	const char *steps_by;
	uint64_t nccl_hang_ns; /* with NEEDS_NCCL: when ranks that wait hang */
	/* with NEEDS_NCCL: findings stay when they are over; and see struct live_nccl_options */
	bool nccl_keeps_past, nccl_rarely;
	bool check_launches;	   /* check the result of every launch */
	bool no_returns;	   /* only watch call entries, see struct selection */
	bool oom_reports;	   /* report allocations that fail for good, see shortages.h */
	const char *oom_directory; /* files of these reports; NULL: none */
	bool network;		   /* gpuprobe will connect to other machines */
	bool watch_gpus;	   /* the model has the machine's GPUs without a process, too */
	struct live_model_limits limits;
	size_t top; /* live allocations listed per process; 0: all */
	struct stack_choice stacks;
	/* sum up what COMMAND's library for GPU times reports; its variable is set already */
	bool gpu_times;
	double gpu_share; /* of the time that the library records; 0: all */
	/* the same for its library for NVTX ranges; needs NEEDS_PROFILE */
	bool nvtx;
	size_t tensor_events;	  /* keep this many events of tensors; 0: none */
	bool tensor_python;	  /* tensors get Python frames alone, where there are any */
	unsigned int stack_sites; /* calls whose stacks are taken, 1 << enum site_kind */
	/* filter of live_sites */
	struct live_filter live_filter;
	/*
	 * samples a second of threads that submit work, see host/watch.h; 0: threads are not
	 * followed. Needs NEEDS_PROFILE
	 */
	unsigned int host_rate;
	/* by how much probes may slow a thread down, 0.05: 5 %; 0: all probes stay attached */
	double max_overhead;
	bool overhead_by_default; /* the budget is a default: ignored if it is unavailable */
	/* the same for stacks of tensors alone; 0: half of max_overhead */
	double tensor_overhead;
	/* for the budget, sample only launches: copies and waits are always watched */
	bool sample_launches_alone;
};

/*
 * Creates the session: the event loop, signals, the deadline, COMMAND. `log` must outlive it.
 * Returns 0 or a negative errno; -ESRCH as session__new.
 */
int live_model__new(const struct live_model_options *options, const struct log *log,
		    struct live_model **out, struct error *err);

/* Detaches the probes and resumes all held processes. NULL ok. */
void live_model__free(struct live_model *live);

/* Loads the BPF object and prepares for its probes; none is attached yet. */
int live_model__prepare(struct live_model *live, struct error *err);

/*
 * Attaches the programs of another BPF object beside the model's own, see session__attach_beside.
 * Call it between prepare and attach; the object must outlive the live model.
 */
int live_model__attach_beside(struct live_model *live, const struct selection *selection,
			      const struct probe_programs *programs, struct error *err);

/* Attaches the probes: counting begins. */
int live_model__attach(struct live_model *live, struct error *err);

/* When live_model__attach began, CLOCK_BOOTTIME: nothing was counted before. */
uint64_t live_model__counts_since(const struct live_model *live);

/*
 * The session, for session__loop, session__run, session__stop and session__status; owned by the
 * live model.
 */
struct session *live_model__session(const struct live_model *live);

/* The model as of the last update; owned by the live model. Valid after prepare. */
struct model *live_model__model(const struct live_model *live);

/* See collector__gathers and collector__gather. */
bool live_model__gathers(const struct live_model *live);
bool live_model__gather(struct live_model *live);

/*
 * Updates the model; lists of allocations and live sites only `with_lists`. Warns about anything
 * that could not be read. Returns 0, or a negative errno after a partial reading: totals may be
 * lower than before.
 */
int live_model__update(struct live_model *live, bool with_lists);

/*
 * Whether the latest update was expensive, complete, and not long ago: a page may show the model
 * as it is. An update that took 200 ms counts as recent for ten times as long (serve/pages.h).
 */
bool live_model__is_recent(const struct live_model *live);

/*
 * The same for the last report, including the last activity of ended processes. Sets model->final.
 */
void live_model__finish(struct live_model *live);

/*
 * The latest events of tensors up to now, until the next call; NULL: none are kept. The stack that
 * an event names, as of the last update; NULL: unknown. `live` is a struct live_model: it fits
 * site_stack_fn.
 */
const struct tensor_trace *live_model__tensor_trace(struct live_model *live);
const struct stack *live_model__stack(void *live, uint64_t id);

/* The GPU times up to now, until the next call; NULL: they are not asked for. */
const struct gpu_times *live_model__gpu_times(const struct live_model *live);
/* The same of NVTX ranges. */
const struct nvtx_ranges *live_model__nvtx_ranges(const struct live_model *live);

/* How many processes --comm and the like have taken and left out so far. */
const struct filtered_processes *live_model__filtered(const struct live_model *live);

/*
 * For a list of processes by what they map (ps/list.h): the filter of --comm and the like, opened,
 * and what asks NVML. Both are owned by the live model; valid after prepare.
 */
const struct process_filter *live_model__filter(const struct live_model *live);
struct attribution *live_model__attribution(const struct live_model *live);

/* See collector__expect_reports. Call it between prepare and attach. */
void live_model__expect_reports(struct live_model *live);

/* A report of the model was printed, see collector__reported. */
void live_model__reported(struct live_model *live);

/* A page of metrics was made of the model, see collector__paged. */
void live_model__paged(struct live_model *live);

#endif
