/* SPDX-License-Identifier: BSD-2-Clause */
/* The monitor's BPF object: which programs are loaded, the size of its maps, and its constants. */
#ifndef PROBE_OBJECT_H
#define PROBE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "probe/features.h"
#include "probe/programs.h"

struct gpuprobe_bpf; /* the generated skeleton */

struct object_options {
	enum link_kind links;
	bool check_launches; /* probe the return of every launch */
	bool only_watched;   /* only count processes in map `watched` */
	bool track_inflight; /* keep track of unfinished asynchronous copies */
	bool sees_memory;    /* all functions that allocate are probed */
	bool hold;	     /* stop watched processes when they map new libraries */
	bool profile;	     /* keep the profile of a run; probes the return of every launch */
	bool idle_records;   /* send each idle time of a device, RECORD_IDLE */
	/*
	 * Number of threads whose repeating submissions are tracked, gpuprobe/steps.h; at most
	 * STEP_RECORDS, 0: none.
	 */
	uint32_t steps;
	uint64_t
		step_range; /* steps are NVTX ranges of the name with this number; 0: repetitions */
	bool rates;	    /* count the calls of each thread, gpuprobe/rate.h */
	bool sites_alone;   /* only the programs of probes: no process life is followed */
	enum stack_mode stack_mode;
	unsigned int stack_sites; /* calls whose stacks are captured, 1 << enum site_kind */
	uint32_t stack_bytes;	  /* of a stack that are copied, up to STACK_COPY_MAX */
	uint32_t stack_sample;	  /* a power of two, see struct launch_site_key */
	uint64_t min_wait_ns;	  /* shortest wait that gets a site */
	uint32_t max_stacks;
	uint32_t max_processes;
	uint32_t max_allocations;
	uint32_t max_kernels;
	uint32_t max_inflight;
	uint32_t max_tensors; /* 0: tensors are not watched */
	bool exhaustion;      /* frameworks' allocators say that memory ran out */
	bool handles;	      /* libraries above CUDA that make handles get probes */
	bool tensor_events;   /* each allocation and free of a tensor is reported in a ring */
	/* of a thread's time that stacks of tensors may take; 0: all stacks are taken */
	double tensor_share;
	bool gpu_times;	    /* `gpu_calls` gets each call that submits work; no `rates` */
	bool tensor_python; /* a tensor's stack has Python frames alone, where there are any */
};

/*
 * Default sampling: one in this many launches of a kernel in a thread is examined closely, which
 * costs 800 ns with its return, or 3 ns per launch. A profile, which probes each return anyway,
 * reads the shape of more launches.
 */
#define LAUNCH_SAMPLE 256
#define PROFILE_SHAPE_SAMPLE 64

/*
 * Loads the object and attaches the tracepoints for process life; attaches no uprobe yet. The
 * caller owns *skeleton (gpuprobe_bpf__destroy).
 */
int object__load(const struct object_options *options, const struct features *features,
		 struct gpuprobe_bpf **skeleton, struct error *err);

/* Fills `programs` with what attaching needs of a loaded object. */
void object__programs(struct gpuprobe_bpf *skeleton, struct probe_programs *programs);

/* Which launch returns are probed: 0 none, 1 all, otherwise one in this many. */
uint32_t object__launch_sample(const struct object_options *options);

#endif
