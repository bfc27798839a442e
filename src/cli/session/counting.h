/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting of CUDA calls, as the monitor and the commands over the same model
 * do it: a session, the BPF object with its probes, the collector, and what is
 * to be done when processes end. What is made of the model is its owner's.
 *
 * In this order: new, prepare, attach, session__run, and then finish and free.
 * Between prepare and attach the owner sets up what may fail without having
 * touched any process.
 */
#ifndef CLI_COUNTING_H
#define CLI_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/options/arguments.h"
#include "cli/session/session.h"
#include "cli/options/stack_options.h"
#include "gpuprobe/state.h"
#include "model/model.h"
#include "probe/selection.h"

struct counting;
struct gpuprobe_bpf; /* the skeleton, generated */

struct counting_limits {
	uint32_t max_processes, max_allocations, max_kernels, max_inflight;
};

/* The limits where nothing else is said. */
#define COUNTING_LIMITS \
	((struct counting_limits){ \
		.max_processes = 4096, \
		.max_allocations = 1048576, \
		.max_kernels = 65536, \
		.max_inflight = 16384, \
	})

struct counting_options {
	const struct targets *targets; /* to outlive the counting */
	double duration;	       /* seconds; 0: until stopped */
	bool end_with_pids;	       /* see struct session_hooks */
	unsigned int sections;	       /* enum section: what is probed and read */
	enum api_mode api;
	bool account;	    /* keep the account of a run; every launch is looked at */
	bool asks, getters; /* of the account: probe what asks for errors, and getters; see struct selection */
	/* With `account`: called for each time in which a device had nothing to do; NULL: these times are only summed up */
	void (*idle_time)(const struct process *process, const struct record_idle *record, void *arg);
	void *idle_arg;
	uint32_t steps;	     /* look for the steps that so many threads repeat, at most STEP_RECORDS; 0: none */
	bool check_launches; /* look at the result of every launch */
	bool no_returns;     /* watch calls as they begin alone, see struct selection */
	struct counting_limits limits;
	size_t top; /* live allocations listed per process; 0: all */
	struct stack_choice stacks;
	unsigned int stack_sites; /* of which calls they are taken, 1 << enum site_kind */
	/* of live_sites */
	struct live_filter live_filter;
	unsigned int host_rate;	    /* samples a second of threads that submit, see host/watch.h; 0: none is followed. With `account` */
	double max_overhead;	    /* by how much probes may make a thread slower, 0.05: 5 %; 0: all probes stay in */
	bool overhead_by_default;   /* nobody has asked for it: without effect where it is not to be had */
	bool sample_launches_alone; /* for that: copies and waits are watched all the time */
};

/* The session: the event loop, signals, the deadline, COMMAND. `log` must outlive it. -ESRCH as session__new. */
int counting__new(const struct counting_options *options, const struct log *log, struct counting **out,
		  struct error *err);

/* NULL is fine. Takes the probes out and lets everybody go on. */
void counting__free(struct counting *counting);

/* Loads the BPF object and prepares for its probes; none is in yet. */
int counting__prepare(struct counting *counting, struct error *err);

/* Puts the probes in: counting begins. */
int counting__attach(struct counting *counting, struct error *err);

/* For session__loop, session__run, session__stop and session__status; owned by the counting. */
struct session *counting__session(const struct counting *counting);

/* The model as of the last update; owned by the counting. Not before prepare. */
struct model *counting__model(const struct counting *counting);

/* See collector__gathers and collector__gather. */
bool counting__gathers(const struct counting *counting);
bool counting__gather(struct counting *counting);

/*
 * Reads the model anew; lists of allocations and live sites only `with_lists`. What could not be read is warned of.
 * Returns 0, or a negative errno where that broke off: totals may be less than they were then.
 */
int counting__update(struct counting *counting, bool with_lists);

/* The same for the last report, with what processes that have ended did last; model->final is set. */
void counting__finish(struct counting *counting);

/* See collector__expect_reports. Between prepare and attach. */
void counting__expect_reports(struct counting *counting);

/* A report of the model has been given out, see collector__reported. */
void counting__reported(struct counting *counting);

/* A page of metrics has been made of it, see collector__paged. */
void counting__paged(struct counting *counting);

#endif
