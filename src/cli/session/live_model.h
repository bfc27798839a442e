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
#include "finding/finding.h"
#include "gpuprobe/state.h"
#include "model/model.h"
#include "probe/selection.h"

struct live_model;
struct gpuprobe_bpf; /* the skeleton, generated */

struct live_model_limits {
	uint32_t max_processes, max_allocations, max_kernels, max_inflight;
};

/* The limits where nothing else is said. */
#define COUNTING_LIMITS \
	((struct live_model_limits){ \
		.max_processes = 4096, \
		.max_allocations = 1048576, \
		.max_kernels = 65536, \
		.max_inflight = 16384, \
	})

struct live_model_options {
	const struct targets *targets; /* to outlive the counting */
	double duration;	       /* seconds; 0: until stopped */
	unsigned int sections;	       /* enum section: what is probed and read */
	enum api_mode api;
	unsigned int needs; /* NEEDS_* to meet, see finding/finding.h; for NEEDS_PROFILE every launch is looked at */
	/* With NEEDS_PROFILE: called for each time in which a device had nothing to do; NULL: these times are only summed up */
	void (*idle_time)(const struct process *process, const struct record_idle *record, void *arg);
	void *idle_arg;
	uint32_t steps;	     /* look for the steps that so many threads repeat, at most STEP_RECORDS; 0: none */
	bool check_launches; /* look at the result of every launch */
	bool no_returns;     /* watch calls as they begin alone, see struct selection */
	struct live_model_limits limits;
	size_t top; /* live allocations listed per process; 0: all */
	struct stack_choice stacks;
	unsigned int stack_sites; /* of which calls they are taken, 1 << enum site_kind */
	/* of live_sites */
	struct live_filter live_filter;
	unsigned int host_rate;	    /* samples a second of threads that submit, see host/watch.h; 0: none is followed. With NEEDS_PROFILE */
	double max_overhead;	    /* by how much probes may make a thread slower, 0.05: 5 %; 0: all probes stay in */
	bool overhead_by_default;   /* nobody has asked for it: without effect where it is not to be had */
	bool sample_launches_alone; /* for that: copies and waits are watched all the time */
};

/* The session: the event loop, signals, the deadline, COMMAND. `log` must outlive it. -ESRCH as session__new. */
int live_model__new(const struct live_model_options *options, const struct log *log, struct live_model **out,
		  struct error *err);

/* NULL is fine. Takes the probes out and lets everybody go on. */
void live_model__free(struct live_model *live);

/* Loads the BPF object and prepares for its probes; none is in yet. */
int live_model__prepare(struct live_model *live, struct error *err);

/* Puts the probes in: counting begins. */
int live_model__attach(struct live_model *live, struct error *err);

/* For session__loop, session__run, session__stop and session__status; owned by the counting. */
struct session *live_model__session(const struct live_model *live);

/* The model as of the last update; owned by the counting. Not before prepare. */
struct model *live_model__model(const struct live_model *live);

/* See collector__gathers and collector__gather. */
bool live_model__gathers(const struct live_model *live);
bool live_model__gather(struct live_model *live);

/*
 * Reads the model anew; lists of allocations and live sites only `with_lists`. What could not be read is warned of.
 * Returns 0, or a negative errno where that broke off: totals may be less than they were then.
 */
int live_model__update(struct live_model *live, bool with_lists);

/* The same for the last report, with what processes that have ended did last; model->final is set. */
void live_model__finish(struct live_model *live);

/* See collector__expect_reports. Between prepare and attach. */
void live_model__expect_reports(struct live_model *live);

/* A report of the model has been given out, see collector__reported. */
void live_model__reported(struct live_model *live);

/* A page of metrics has been made of it, see collector__paged. */
void live_model__paged(struct live_model *live);

#endif
