/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The start of a process: from its begin, or attach, to its first launch and
 * to the first step that lasts as long as those after it do (model/steps.h),
 * and what the thread that launched first did until then.
 *
 * The moments are exact: BPF has the first call and the first launch, and the steps have times of their own. What was done until the
 * first launch is exact, too. What was done until the first such step is known from
 * the latest reading before it: readings come every second, and what the thread did
 * after the reading is not told apart.
 */
#ifndef MODEL_START_H
#define MODEL_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"

struct process;

/* Where the time goes; all parts together are the time from the begin to `steady_ns`, or to the first launch. */
enum start_part {
	START_BEFORE = 0, /* up to the first CUDA call: the interpreter, imports */
	START_DRIVER,	  /* cuInit */
	START_CONTEXT,
	START_MODULES, /* loads, those inside launches too */
	START_GRAPHS,  /* captures, graphs built and instantiated */
	START_MEMORY,
	START_COPIES, /* weights, as a rule */
	START_LAUNCHES,
	START_WAITS,
	START_CALLS, /* other CUDA calls */
	START_HOST,  /* outside CUDA calls, after the first one */
	START_REST,  /* after the latest reading: not told apart */
	START_PARTS,
};

#define START_READINGS 64

/* What the thread that launched first had done at a reading. */
struct start_reading {
	uint64_t ns; /* when */
	struct start_sums sums;
};

/* What readings have told. Zero is the begin. */
struct start_record {
	struct start_reading readings[START_READINGS]; /* oldest first; every second one goes where there is no room */
	size_t count;
};

struct process_start {
	bool from_begin; /* of the process; else from attach */
	uint64_t begin_ns;
	uint64_t called_ns;					 /* the first call that was seen */
	uint64_t launched_ns;					 /* the return of the first launch; 0: there was none */
	uint64_t steady_ns;					 /* 0: nothing repeats, as far as is known */
	int32_t tid;						 /* the thread that launched first; 0: none has */
	uint64_t to_launch[START_PARTS], to_steady[START_PARTS]; /* ns; 0 where the moment is not known */
	uint64_t loads;						 /* modules and libraries, to the reading before `steady_ns`, or to the first launch */
	struct upload_sums uploads;				 /* as `loads` */
};

/* Takes a reading, where the start may not be over yet. */
void start__follow(struct process *process, uint64_t now_ns);

/* Draws up the start of a process with a profile; `began_ns`: when the probes were in. */
void start__evaluate(const struct process *process, uint64_t began_ns, struct process_start *start);

#endif
