// SPDX-License-Identifier: BSD-2-Clause
// Traces the calls of NCCL and takes them in, see nccl_watch.h.
#include "cli/session/nccl_watch.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/options/trace_options.h"
#include "gen/trace.skel.h"
#include "nccl/call.h"
#include "nccl/intake.h"
#include "probe/holds.h"
#include "probe/trace_object.h"
#include "trace/stream.h"

#define DRAIN_MS 100

/* --- events --- */

static int on_line(const struct trace_line *line, void *arg)
{
	struct nccl_watch *watch = arg;
	const struct process_filter *filter = watch->options.filter;

	if (!line->process || (process_filter__needs_names(filter) &&
			       !process_filter__takes_path(filter, line->process->cgroup)))
		return 0;
	if (watch->options.called)
		watch->options.called(line, watch->options.arg);
	nccl_intake__line(watch->intake, line);
	return 0;
}

/* Reads one round. Signals and notices get their turn before the next. */
static void drain(struct nccl_watch *watch)
{
	static const struct timeval at_once = {0};
	int ret = watch->failure ? 0 : trace_stream__drain(watch->stream);

	if (ret == 1)
		evtimer_add(watch->more, &at_once);
	if (ret >= 0)
		return;
	watch->failure = ret;
	watch->options.failed(watch->options.arg);
}

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	drain(arg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct nccl_watch *watch = arg;

	(void)fd;
	(void)what;
	drain(watch);
	nccl_intake__look(watch->intake, clock__boot_ns());
}

static void on_process_changed(const struct record_library *record, void *arg)
{
	const struct nccl_watch *watch = arg;

	if (watch->options.process_changed)
		watch->options.process_changed(record, watch->options.arg);
}

static uint64_t held_time(pid_t pid, uint64_t from_ns, uint64_t to_ns, void *arg)
{
	const struct nccl_watch *watch = arg;

	return holds__of_process(&watch->programs, pid, from_ns, to_ns);
}

static int read_memory(pid_t pid, uint64_t address, void *buffer, size_t size, void *arg)
{
	const struct nccl_watch *watch = arg;

	return memory_reader__read(watch->memory, pid, address, buffer, size);
}

static int look_at_comm(pid_t pid, uint64_t handle, struct comm_facts *facts, void *arg)
{
	const struct nccl_watch *watch = arg;

	return comm_memory__look(watch->comms, pid, handle, facts);
}

/* NCCL of an unknown version is taken for a newer one. */
static enum nccl_hashing hashing_of(pid_t pid, void *arg)
{
	const struct nccl_watch *watch = arg;
	int version = comm_memory__version(watch->comms, pid);

	return version ? nccl_hashing__of_version(version) : NCCL_HASHING_MIXER;
}

/* --- setting up --- */

static int make_judge(struct nccl_watch *watch)
{
	const struct nccl_intake_hooks hooks = {
		.read = read_memory,
		.hashing = hashing_of,
		.look = look_at_comm,
		.arg = watch,
	};
	const struct nccl_limits limits = {.proven_late = true};

	watch->memory = memory_reader__new(watch->log);
	watch->comms = comm_memory__new(watch->memory);
	watch->jobs = nccl_jobs__new(&limits);
	watch->looker = looker__new(watch->log);
	if (watch->jobs)
		watch->intake = nccl_intake__new(watch->jobs, &hooks);
	if (watch->intake)
		watch->looks = nccl_looks__new(watch->jobs, watch->intake, watch->looker);
	return watch->memory && watch->comms && watch->looks ? 0 : -ENOMEM;
}

int nccl_watch__new(const struct nccl_watch_options *options, const struct log *log,
		    struct nccl_watch **out, struct error *err)
{
	struct nccl_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return error__set(err, -ENOMEM, "out of memory");
	watch->options = *options;
	watch->log = log;
	if (make_judge(watch)) {
		nccl_watch__free(watch);
		return error__set(err, -ENOMEM, "out of memory");
	}
	*out = watch;
	return 0;
}

static struct trace_config config_of(const struct nccl_watch *watch)
{
	struct trace_options trace = {.targets = *watch->options.targets};

	trace_options__choose_processes(&trace);
	trace.config.entry_return = 1;
	trace.config.cgroup = watch->options.filter->cgroup_id.id;
	trace.config.cgroup_level = watch->options.filter->cgroup_id.level;
	return trace.config;
}

static int load_object(struct nccl_watch *watch, const struct features *features,
		       enum link_kind links, struct error *err)
{
	const struct trace_object_options object = {
		.links = links,
		.only_watched = watch->options.only_watched,
		.hold = watch->options.hold,
		.handles = true,
		.ring_bytes = watch->options.ring_bytes,
		.stacks = {.mode = STACK_OFF},
		.config = config_of(watch),
	};
	int ret = trace_object__load(&object, features, &watch->skeleton, err);

	if (!ret)
		trace_object__programs(watch->skeleton, &watch->programs);
	return ret;
}

static int select_functions(struct nccl_watch *watch, struct error *err)
{
	watch->selection = trace_selection__new(API_BOTH);
	watch->functions = trace_functions__new(false);
	if (!watch->selection || !watch->functions)
		return error__set(err, -ENOMEM, "out of memory");
	return trace_selection__add(watch->selection, nccl_call_selection, err);
}

static int open_stream(struct nccl_watch *watch, struct error *err)
{
	const struct trace_stream_options stream = {
		.entry_return = true,
		.wants_cgroup = process_filter__needs_names(watch->options.filter),
		.line = on_line,
		.process_changed = on_process_changed,
		.held = watch->options.hold ? held_time : NULL,
		.arg = watch,
	};

	return trace_stream__new(watch->skeleton, watch->functions, &stream, watch->log,
				 &watch->stream, err);
}

int nccl_watch__load(struct nccl_watch *watch, const struct features *features,
		     enum link_kind links, struct error *err)
{
	int ret = load_object(watch, features, links, err);

	if (!ret)
		ret = select_functions(watch, err);
	if (!ret)
		ret = open_stream(watch, err);
	if (!ret)
		trace_choice__init(&watch->choice, watch->selection, watch->functions,
				   watch->skeleton, watch->log);
	return ret;
}

int nccl_watch__listen(struct nccl_watch *watch, struct event_base *loop, struct error *err)
{
	static const struct timeval period = {.tv_usec = DRAIN_MS * 1000};

	watch->ring = event_new(loop, trace_stream__fd(watch->stream), EV_READ | EV_PERSIST,
				on_ring, watch);
	watch->tick = event_new(loop, -1, EV_PERSIST, on_tick, watch);
	watch->more = evtimer_new(loop, on_ring, watch);
	if (!watch->ring || !watch->tick || !watch->more || event_add(watch->ring, NULL) ||
	    event_add(watch->tick, &period))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

void nccl_watch__begin(struct nccl_watch *watch)
{
	trace_stream__begin(watch->stream, clock__boot_ns());
}

/* --- judging --- */

void nccl_watch__second(struct nccl_watch *watch)
{
	nccl_looks__find_ended(watch->looks, false);
}

int nccl_watch__judge(struct nccl_watch *watch, const struct nccl_patience *patience,
		      uint64_t now_ns, uint64_t least_ns, struct nccl_findings *findings)
{
	int ret;

	nccl_findings__free(findings);
	ret = nccl_jobs__judge(watch->jobs, patience, now_ns, findings);
	if (ret || !nccl_looks__look(watch->looks, findings, now_ns, least_ns))
		return ret;
	nccl_findings__free(findings);
	return nccl_jobs__judge(watch->jobs, patience, now_ns, findings);
}

int nccl_watch__finish(struct nccl_watch *watch)
{
	int ret;

	do {
		ret = watch->failure ? watch->failure : trace_stream__finish(watch->stream);
	} while (ret == 1);
	nccl_looks__find_ended(watch->looks, true);
	return ret;
}

uint64_t nccl_watch__lost(const struct nccl_watch *watch)
{
	struct trace_counts counts;

	trace_stream__count(watch->stream, &counts);
	return counts.lost + counts.losses[TRACE_LOST_RETURN] + counts.malformed +
	       nccl_intake__left_out(watch->intake);
}

static void free_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

void nccl_watch__unlisten(struct nccl_watch *watch)
{
	if (!watch)
		return;
	free_event(&watch->ring);
	free_event(&watch->tick);
	free_event(&watch->more);
}

void nccl_watch__free(struct nccl_watch *watch)
{
	if (!watch)
		return;
	nccl_watch__unlisten(watch);
	nccl_looks__free(watch->looks);
	looker__free(watch->looker);
	nccl_intake__free(watch->intake);
	nccl_jobs__free(watch->jobs);
	comm_memory__free(watch->comms);
	memory_reader__free(watch->memory);
	trace_stream__free(watch->stream);
	trace_functions__free(watch->functions);
	trace_selection__free(watch->selection);
	trace_bpf__destroy(watch->skeleton);
	free(watch);
}
