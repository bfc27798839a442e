/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the BPF maps to the model. The collector owns the model, takes in the
 * notices of the ring buffer, reads the maps when asked, and clears away what
 * ended processes have left in them.
 */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "govern/estimate.h"
#include "model/model.h"

struct earlier_calls;
struct stacks;
struct gpuprobe_bpf;
struct collector;

struct collector_options {
	unsigned int sections;
	uint32_t launch_sample; /* see struct model */
	uint32_t max_processes;
	size_t top;			  /* allocations listed per process; 0: all */
	bool exact_from_start;		  /* no process is `since attach`: COMMAND's */
	bool no_returns;		  /* no probe follows a return */
	bool profile;			  /* as the BPF object was loaded with */
	uint32_t steps;			  /* as the BPF object was loaded with */
	enum stack_mode stack_mode;	  /* as the BPF object was loaded with */
	size_t max_stacks;		  /* distinct ones that are kept */
	bool follows_threads;		  /* some stacks in the ring are followed threads', see host/watch.h */
	struct live_filter live_filter;	  /* of live_site's and of lists of allocations */
	struct estimate_source estimates; /* of calls that are not seen; without `missed`: there are none */
};

/* What the owner does about notices that are not the collector's own. All optional. */
struct collector_hooks {
	/* A process has become another program (RECORD_EXEC), has loaded libraries (RECORD_LIBRARY, RECORD_LOADED) or has been forked (RECORD_FORK). */
	void (*process_changed)(const struct record_library *record, void *arg);
	/* A device had nothing to do for a time, where the BPF object was loaded with `idle_records`. */
	void (*idle_time)(const struct process *process, const struct record_idle *record, void *arg);
	/* A process has ended: collector__reap should be called before long. */
	void (*process_ended)(void *arg);
	void *arg;
};

/* `skeleton` and `log` must outlive the collector. */
int collector__new(struct gpuprobe_bpf *skeleton, const struct collector_options *options,
		   const struct collector_hooks *hooks, const struct log *log, struct collector **out,
		   struct error *err);
void collector__free(struct collector *collector);

/*
 * Readable when notices or stacks wait. collector__consume takes in those that are there when it is called, not what
 * comes meanwhile. __consume_some stops behind the one with which 50 ms are over, so that others have a turn: what is
 * left keeps the descriptor readable.
 */
int collector__ring_fd(const struct collector *collector);
void collector__consume(struct collector *collector);
void collector__consume_some(struct collector *collector);

/* A process that runs already and may make CUDA calls: what its stacks are read by is looked up before it does. */
void collector__see_process(struct collector *collector, pid_t pid);

/* What names stacks, the collector's own; NULL: none are taken. For who takes others into the same ring. */
struct stacks *collector__stacks(const struct collector *collector);

/* To be called every second: closes files that nothing has been looked up in for a while. */
void collector__rest(struct collector *collector);

/* The probes are in: processes older than this moment are `since attach`. */
void collector__attached(struct collector *collector);

/* Calls in progress from before, see collect/earlier_calls.h: owned by the collector, filled in and kept up to date by the caller. */
struct earlier_calls *collector__earlier(struct collector *collector);

/* A process that is in a call from before gets its place as if it had called. Nothing is done where the kernel cannot (Linux 6.1). */
void collector__adopt(struct collector *collector, pid_t pid);

/* The process that had this pid at `time_ns` was running then what had no probes yet: it is `since attach`. */
void collector__mark_late(struct collector *collector, pid_t pid, uint64_t time_ns);

/*
 * Reads the maps into the model; the lists of allocations only `with_lists`,
 * since they take a walk over all of them. Returns 0 or a negative errno; the
 * model holds then what could be read.
 */
int collector__update(struct collector *collector, bool with_lists);

/*
 * Whether reading lists would hold up everybody else, by what the last update
 * told of live allocations: then collector__gather is to be called, until it
 * returns 0, and collector__update with_lists after that.
 */
bool collector__gathers(const struct collector *collector);

/* A few milliseconds of it. Returns 1 while there is more to do, 0, or a negative errno: the lists are read at once then. */
int collector__gather(struct collector *collector);

/*
 * Reads the maps for what ended processes did last, with their lists, and
 * gives their places free. Otherwise as collector__update.
 */
int collector__reap(struct collector *collector, bool with_lists);

/* Of the processes that the latest reaping has read, the share that has not ended: 0 to 1. */
double collector__living(const struct collector *collector);

/* The model as of the last update. Owned by the collector. */
struct model *collector__model(struct collector *collector);

/* Reports are made: an ended process that leaves the model before one has shown it is a loss. */
void collector__expect_reports(struct collector *collector);

/* A report of the model has been given out: what was freed or ended is told. */
void collector__reported(struct collector *collector);

/* The same of a page of metrics; for two minutes after it another one is expected. */
void collector__paged(struct collector *collector);

#endif
