/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The startup of a process: from its start, or from attach, to its first launch and to the first
 * step that is no longer than those after it (model/steps.h), and what the thread that launched
 * first did until then.
 *
 * The times are exact: BPF records the first call and the first launch, and steps have their own
 * times. The breakdown up to the first launch is exact too. The breakdown up to the first steady
 * step comes from the latest reading before it: readings come every second, and the time after that
 * reading is not broken down.
 */
#ifndef MODEL_START_H
#define MODEL_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/profile.h"

struct process;

/*
 * Where the time goes; all parts add up to the time from the beginning to `steady_ns`, or to the
 * first launch.
 */
enum start_part {
	START_BEFORE = 0, /* before the first CUDA call: the interpreter, imports */
	START_DRIVER,	  /* cuInit */
	START_CONTEXT,
	START_MODULES, /* loads, including those inside launches */
	START_GRAPHS,  /* capturing, building and instantiating graphs */
	START_MEMORY,
	START_COPIES, /* mostly weights */
	START_LAUNCHES,
	START_WAITS,
	START_CALLS, /* other CUDA calls */
	START_HOST,  /* outside CUDA calls, after the first one */
	START_REST,  /* after the latest reading: not broken down */
	START_PARTS,
};

#define START_READINGS 64

/* What the thread that launched first had done by a reading. */
struct start_reading {
	uint64_t ns; /* time of the reading */
	struct start_sums sums;
};

/* Collected readings. Initially all zero. */
struct start_record {
	/* oldest first; when full, every second one is dropped */
	struct start_reading readings[START_READINGS];
	size_t count;
};

struct process_start {
	bool from_begin; /* of the process; otherwise from attach */
	uint64_t begin_ns;
	uint64_t called_ns;   /* the first call that was seen */
	uint64_t launched_ns; /* the return of the first launch; 0: none */
	uint64_t steady_ns;   /* 0: no repetition is known */
	int32_t tid;	      /* the thread that launched first; 0: none */
	/* ns; 0 if that time is unknown */
	uint64_t to_launch[START_PARTS], to_steady[START_PARTS];
	/* modules and libraries loaded by the reading before `steady_ns`, or by the first launch */
	uint64_t loads;
	struct upload_sums uploads; /* up to the same time as `loads` */
};

/* Takes a reading if startup may not be over yet. */
void start__follow(struct process *process, uint64_t now_ns);

/*
 * Summarizes the startup of a process with a profile; `began_ns`: when the probes were attached.
 */
void start__evaluate(const struct process *process, uint64_t began_ns, struct process_start *start);

#endif
