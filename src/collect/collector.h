/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the BPF maps to the model. The collector owns the model, takes in notices from the ring
 * buffer, reads the maps on request, and deletes the entries that ended processes left in them.
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
#include "target/pod_names.h"
#include "target/process_filter.h"

struct earlier_calls;
struct stacks;
struct gpuprobe_bpf;
struct collector;

struct collector_options {
	unsigned int sections;
	uint32_t launch_sample; /* see struct model */
	uint32_t max_processes;
	size_t top;		    /* allocations listed per process; 0: all */
	bool exact_from_start;	    /* no process is `since attach`: all are COMMAND's */
	bool no_returns;	    /* no probe follows a return */
	bool watch_gpus;	    /* read the GPUs' state without a process, too */
	bool profile;		    /* as the BPF object was loaded with */
	uint32_t steps;		    /* as the BPF object was loaded with */
	const char *steps_by;	    /* the NVTX range that steps are; NULL: repetitions */
	enum stack_mode stack_mode; /* as the BPF object was loaded with */
	size_t max_stacks;	    /* distinct stacks to keep */
	/* the ring also has stacks of followed threads, see host/watch.h */
	bool follows_threads;
	/* applies to struct live_site and to lists of allocations */
	struct live_filter live_filter;
	bool tensors; /* read the maps of tensors; by call site only with stacks */
	struct estimate_source estimates; /* of missed calls; without `missed`: no estimates */
	/*
	 * Processes that it leaves out are counted in the maps, but are not in the model. Opened;
	 * NULL: all are in it. Must outlive the collector.
	 */
	const struct process_filter *filter;
	struct pod_logs pod_logs; /* where names of pods and containers come from */
};

/* The owner's reactions to notices that the collector does not handle itself. All optional. */
struct collector_hooks {
	/*
	 * A process has executed another program (RECORD_EXEC), loaded libraries (RECORD_LIBRARY,
	 * RECORD_LOADED) or been forked (RECORD_FORK).
	 */
	void (*process_changed)(const struct record_library *record, void *arg);
	/* A device was idle for a while. Requires a BPF object loaded with `idle_records`. */
	void (*idle_time)(const struct process *process, const struct record_idle *record,
			  void *arg);
	/*
	 * An allocation of the process failed for lack of device memory, or its thread then got as
	 * much after all, or a framework's allocator says so, by the header's type.
	 */
	void (*shortage)(const struct process *process, const struct record_shortage *record,
			 void *arg);
	/* A process has ended: call collector__reap soon. */
	void (*process_ended)(void *arg);
	void *arg;
};

/* `skeleton` and `log` must outlive the collector. */
int collector__new(struct gpuprobe_bpf *skeleton, const struct collector_options *options,
		   const struct collector_hooks *hooks, const struct log *log,
		   struct collector **out, struct error *err);
void collector__free(struct collector *collector);

/*
 * The descriptor is readable while notices or stacks wait. collector__consume takes in those that
 * are there when it is called, not later ones. collector__consume_some stops after 50 ms, behind
 * the record in progress, so that others get a turn; the rest keeps the descriptor readable.
 */
int collector__ring_fd(const struct collector *collector);
void collector__consume(struct collector *collector);
void collector__consume_some(struct collector *collector);

/* A running process may make CUDA calls: prepares reading its stacks before it does. */
void collector__see_process(struct collector *collector, pid_t pid);

/*
 * The collector's stacks; NULL if none are taken. For callers whose own stacks go through the same
 * ring.
 */
struct stacks *collector__stacks(const struct collector *collector);

/* Closes files in which nothing has been looked up for a while. Call it every second. */
void collector__rest(struct collector *collector);

/* The probes are attached: processes that are older than this are `since attach`. */
void collector__attached(struct collector *collector);

/*
 * Calls in progress since before attach, see collect/earlier_calls.h. The collector owns them; the
 * caller fills them in and keeps them up to date.
 */
struct earlier_calls *collector__earlier(struct collector *collector);

/*
 * Gives a process that is in a call from before attach its slot, as if it had called. Has no effect
 * on kernels without task iterators for one process, which came with Linux 6.1.
 */
void collector__adopt(struct collector *collector, pid_t pid);

/*
 * The process that had this pid at `time_ns` was then running code without probes: it is `since
 * attach`.
 */
void collector__mark_late(struct collector *collector, pid_t pid, uint64_t time_ns);

/*
 * Reads the maps into the model. `with_lists`: also makes the lists of allocations, which takes a
 * walk over all of them. Returns 0 or a negative errno; the model then holds what could be read.
 */
int collector__update(struct collector *collector, bool with_lists);

/* Replaces the filter of live memory, for the next readings. */
void collector__filter_live(struct collector *collector, const struct live_filter *filter);

/*
 * Whether making lists at once would hold up everything else, judged by the live allocations of the
 * last update. If so, call collector__gather until it returns 0, then collector__update with_lists.
 */
bool collector__gathers(const struct collector *collector);

/*
 * Gathers allocations for lists, for a few milliseconds. Returns 1 if there is more to do, 0 if
 * not, or a negative errno: the next update then makes the lists at once.
 */
int collector__gather(struct collector *collector);

/*
 * Reads the maps for the final data of ended processes, including their lists, and frees their
 * slots. Otherwise like collector__update.
 */
int collector__reap(struct collector *collector, bool with_lists);

/*
 * Call it before collector__reap, until it returns false, and let others have their turn after each
 * call: where there are many allocations, finding those of ended processes takes long, and each
 * call does a few milliseconds of it. Returns whether there is more to do.
 */
bool collector__gather_ended(struct collector *collector);

/*
 * The share of processes that have not ended, among those that the latest collector__reap read: 0
 * to 1.
 */
double collector__living(const struct collector *collector);

/*
 * All processes that the maps have data of: the model's, and behind them those left out. Valid
 * until the next update.
 */
struct process *collector__processes(struct collector *collector, size_t *count);

/* What asks NVML for the model; owned by the collector. */
struct attribution *collector__attribution(const struct collector *collector);

/* What the filter has decided so far. */
const struct filtered_processes *collector__filtered(const struct collector *collector);

/* The model as of the last update. The collector owns it. */
struct model *collector__model(struct collector *collector);

/*
 * Declares that reports are made: an ended process that leaves the model before a report has shown
 * it then counts as a loss.
 */
void collector__expect_reports(struct collector *collector);

/* A report of the model has been output: its frees and ended processes count as reported. */
void collector__reported(struct collector *collector);

/* The same for a page of metrics. For two minutes after it another page is expected. */
void collector__paged(struct collector *collector);

#endif
