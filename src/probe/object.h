/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF object: which of its programs are loaded, how large its maps are,
 * and the constants it is given.
 */
#ifndef PROBE_OBJECT_H
#define PROBE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "gpuprobe/state.h"
#include "probe/features.h"
#include "probe/programs.h"

struct gpuprobe_bpf; /* the skeleton, generated */

struct object_options {
	enum link_kind links;
	bool check_launches; /* look at the return of every launch */
	bool only_watched;   /* map `watched` decides which processes count */
	bool track_inflight; /* keep profile of unfinished asynchronous copies */
	bool sees_memory;    /* all functions that allocate are probed */
	bool hold;	     /* stop watched processes at new libraries */
	bool profile;	     /* keep the profile of a run, gpuprobe/profile.h; the return of every launch is looked at */
	bool idle_records;   /* tell each idle time of a device, RECORD_IDLE */
	uint32_t steps;	     /* look for what so many threads submit over and over, gpuprobe/steps.h; at most STEP_RECORDS, 0: none */
	bool rates;	     /* count the calls of threads, gpuprobe/rate.h */
	bool sites_alone;    /* only the programs of probe sites: nobody's life is followed */
	enum stack_mode stack_mode;
	unsigned int stack_sites; /* of which calls stacks are taken, 1 << enum site_kind */
	uint32_t stack_bytes;	  /* of a stack that are copied, up to STACK_COPY_MAX */
	uint32_t stack_sample;	  /* a power of two, see struct launch_site_key */
	uint64_t min_wait_ns;	  /* of waits that have a site */
	uint32_t max_stacks;
	uint32_t max_processes;
	uint32_t max_allocations;
	uint32_t max_kernels;
	uint32_t max_inflight;
};

/*
 * Launches of a kernel in one thread of which one is looked at more closely, where nothing else is said: 800 ns with
 * its return, 3 for each launch. A profile, which sees each return anyway, asks for the shapes of more.
 */
#define LAUNCH_SAMPLE 256
#define ACCOUNT_SHAPE_SAMPLE 64

/*
 * Loads the object and attaches the tracepoints of process life; no uprobe
 * is attached yet. The caller owns *skeleton (gpuprobe_bpf__destroy).
 */
int object__load(const struct object_options *options, const struct features *features,
		 struct gpuprobe_bpf **skeleton, struct error *err);

/* What attaching needs of a loaded object. */
void object__programs(struct gpuprobe_bpf *skeleton, struct probe_programs *programs);

/* Whether launches' returns are seen, and of how many one: 0 none, 1 all, else sampled. */
uint32_t object__launch_sample(const struct object_options *options);

#endif
