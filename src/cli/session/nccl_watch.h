/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces the calls of NCCL and takes them in: the tracer's BPF object with the functions that the
 * judge needs, the stream of their events, the communicators, and looks at their processes. The
 * owner attaches the probes. `gpuprobe nccl` and the live model (live_nccl.h) share it.
 *
 * Call order: new, load, listen; then attach, begin; after detaching, finish and free.
 */
#ifndef CLI_NCCL_WATCH_H
#define CLI_NCCL_WATCH_H

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/commands/trace_choice.h"
#include "cli/options/targets.h"
#include "cli/session/nccl_looks.h"
#include "nccl/comm_memory.h"
#include "probe/features.h"
#include "probe/programs.h"
#include "target/memory_reader.h"

#define NCCL_TIMES_NS (3 * NS_PER_S)	   /* before that, ranks that start look late */
#define NCCL_LOOK_AGAIN_NS (15 * NS_PER_S) /* at processes that hang */

struct event;
struct event_base;
struct trace_bpf; /* the generated skeleton */
struct trace_line;
struct trace_stream;

struct nccl_watch_options {
	const struct targets *targets;
	const struct process_filter *filter; /* the targets', opened before load */
	bool only_watched;		     /* only trace processes in programs.watched */
	bool hold;			     /* stop them when they map new libraries */
	uint64_t ring_bytes;		     /* see struct trace_object_options */
	/* A line of a process that the filter takes, before it is taken in. Optional. */
	void (*called)(const struct trace_line *line, void *arg);
	/* As in struct trace_stream_options. Optional. */
	void (*process_changed)(const struct record_library *record, void *arg);
	/* The stream cannot be read any more. */
	void (*failed)(void *arg);
	void *arg;
};

struct nccl_watch {
	struct nccl_watch_options options;
	const struct log *log;
	struct memory_reader *memory;
	struct comm_memory *comms;
	struct nccl_jobs *jobs;
	struct nccl_intake *intake;
	struct looker *looker;
	struct nccl_looks *looks;
	/* from load on */
	struct trace_bpf *skeleton;
	struct probe_programs programs;
	struct trace_selection *selection;
	struct trace_functions *functions;
	struct trace_choice choice; /* for the attacher */
	struct trace_stream *stream;
	struct event *ring, *tick, *more; /* from listen on */
	int failure;			  /* error of the stream */
};

/*
 * Makes the judge. `log` and what the options point to must outlive it. Returns 0 or -ENOMEM with a
 * message.
 */
int nccl_watch__new(const struct nccl_watch_options *options, const struct log *log,
		    struct nccl_watch **out, struct error *err);
/* Call it when the probes are detached. NULL ok. */
void nccl_watch__free(struct nccl_watch *watch);

/* Loads the BPF object and opens its stream. Returns 0 or a negative errno with a message. */
int nccl_watch__load(struct nccl_watch *watch, const struct features *features,
		     enum link_kind links, struct error *err);

/* From here on the loop takes the events in. Returns 0 or -ENOMEM with a message. */
int nccl_watch__listen(struct nccl_watch *watch, struct event_base *loop, struct error *err);

/* Before the loop ends. NULL ok. */
void nccl_watch__unlisten(struct nccl_watch *watch);

/* Call it when probes are attached. */
void nccl_watch__begin(struct nccl_watch *watch);

/* Looks which processes have ended. Call it every second. */
void nccl_watch__second(struct nccl_watch *watch);

/*
 * Judges. If ranks hang, looks at what they do, unless it did less than `least_ns` ago: that
 * decides whether they are missing at all. Returns 0 or -ENOMEM. See nccl_jobs__judge about the
 * findings.
 */
int nccl_watch__judge(struct nccl_watch *watch, const struct nccl_patience *patience,
		      uint64_t now_ns, uint64_t least_ns, struct nccl_findings *findings);

/* Call it when the probes are detached: takes in the rest. Returns 0 or a negative errno. */
int nccl_watch__finish(struct nccl_watch *watch);

/* Calls that were lost so far. */
uint64_t nccl_watch__lost(const struct nccl_watch *watch);

#endif
