// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe nccl`: traces the calls of NCCL, feeds the judge with them and prints what it finds;
// see subcommand.h.
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/commands/join_nodes.h"
#include "cli/commands/nccl_report.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/trace_choice.h"
#include "cli/options/nccl_options.h"
#include "cli/options/trace_options.h"
#include "cli/session/privileges.h"
#include "cli/session/session.h"
#include "cli/session/target_pids.h"
#include "gen/trace.skel.h"
#include "nccl/call.h"
#include "nccl/comm_memory.h"
#include "nccl/intake.h"
#include "privilege/file_rights.h"
#include "probe/features.h"
#include "probe/holds.h"
#include "probe/return_probes.h"
#include "probe/trace_object.h"
#include "serve/http.h"
#include "target/memory_reader.h"
#include "trace/stream.h"

#define GRACE_MS 1000 /* a COMMAND that hangs may ignore Ctrl-C */
#define DRAIN_MS 100

struct nccl_run {
	const struct nccl_options *options;
	const struct log *log;
	struct process_filter filter; /* the targets', opened */
	struct session *session;
	struct trace_bpf *skeleton;
	struct probe_programs programs;
	struct trace_selection *selection;
	struct trace_functions *functions;
	struct trace_choice choice;
	struct trace_stream *stream;
	struct memory_reader *memory;
	struct comm_memory *comms;
	struct nccl_jobs *jobs;
	struct nccl_intake *intake;
	struct looker *looker;
	struct nccl_ras *ras; /* NULL: without --ras */
	struct nccl_looks *looks;
	struct nccl_report *report;
	struct http_server *server;
	struct event *ring, *tick, *more;
	uint32_t seen; /* number + 1 of the process of the latest line */
	int failure;   /* error of the stream */
};

/* --- events --- */

static int on_line(const struct trace_line *line, void *arg)
{
	struct nccl_run *run = arg;

	if (!line->process || (process_filter__needs_names(&run->filter) &&
			       !process_filter__takes_path(&run->filter, line->process->cgroup)))
		return 0;
	if (run->seen != line->process->number + 1) {
		run->seen = line->process->number + 1;
		target_pids__see_call(session__target_processes(run->session), line->process->pid,
				      line->process->parent);
	}
	nccl_intake__line(run->intake, line);
	return 0;
}

/* Reads one round. Signals and notices get their turn before the next. */
static void drain(struct nccl_run *run)
{
	static const struct timeval at_once = {0};
	int ret = trace_stream__drain(run->stream);

	if (ret == 1)
		evtimer_add(run->more, &at_once);
	if (ret >= 0)
		return;
	run->failure = ret;
	session__stop(run->session);
}

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	drain(arg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct nccl_run *run = arg;

	(void)fd;
	(void)what;
	drain(run);
	nccl_intake__look(run->intake, clock__boot_ns());
}

static void on_second(void *arg)
{
	struct nccl_run *run = arg;

	session__beat(run->session);
	nccl_looks__find_ended(run->looks, false);
	if (run->ras)
		nccl_ras__identify(run->ras, clock__boot_ns());
	nccl_report__judge(run->report, clock__boot_ns());
}

static void on_process_changed(const struct record_library *record, void *arg)
{
	struct nccl_run *run = arg;

	session__process_changed(run->session, record);
}

static uint64_t held_time(pid_t pid, uint64_t from_ns, uint64_t to_ns, void *arg)
{
	const struct nccl_run *run = arg;

	return holds__of_process(&run->programs, pid, from_ns, to_ns);
}

static int read_memory(pid_t pid, uint64_t address, void *buffer, size_t size, void *arg)
{
	const struct nccl_run *run = arg;

	return memory_reader__read(run->memory, pid, address, buffer, size);
}

static int look_at_comm(pid_t pid, uint64_t handle, struct comm_facts *facts, void *arg)
{
	const struct nccl_run *run = arg;

	return comm_memory__look(run->comms, pid, handle, facts);
}

static uint64_t count_lost(void *arg)
{
	const struct nccl_run *run = arg;
	struct trace_counts counts;

	trace_stream__count(run->stream, &counts);
	return counts.lost + counts.losses[TRACE_LOST_RETURN] + counts.malformed +
	       nccl_intake__left_out(run->intake);
}

static void on_closed(void *arg)
{
	const struct nccl_run *run = arg;

	session__stop(run->session);
}

/* --- setting up --- */

static struct trace_config config_of(const struct nccl_run *run)
{
	struct trace_options trace = {.targets = run->options->targets};

	trace_options__choose_processes(&trace);
	trace.config.entry_return = 1;
	trace.config.cgroup = run->filter.cgroup_id.id;
	trace.config.cgroup_level = run->filter.cgroup_id.level;
	return trace.config;
}

static int load(struct nccl_run *run, const struct features *features, enum link_kind links,
		struct error *err)
{
	const struct nccl_options *options = run->options;
	struct trace_object_options object = {
		.links = links,
		.only_watched = options->targets.command || options->targets.pid_count,
		.hold = options->targets.command,
		.handles = true,
		.ring_bytes = options->ring_bytes,
		.stacks = {.mode = STACK_OFF},
	};
	int ret = process_filter__open(&run->filter, err);

	if (ret)
		return ret;
	object.config = config_of(run);
	ret = trace_object__load(&object, features, &run->skeleton, err);
	if (ret)
		return ret;
	trace_object__programs(run->skeleton, &run->programs);
	return 0;
}

static int select_functions(struct nccl_run *run, struct error *err)
{
	run->selection = trace_selection__new(API_BOTH);
	run->functions = trace_functions__new(false);
	if (!run->selection || !run->functions)
		return error__set(err, -ENOMEM, "out of memory");
	return trace_selection__add(run->selection, nccl_call_selection, err);
}

static int make_judge(struct nccl_run *run, struct error *err)
{
	const struct nccl_intake_hooks hooks = {
		.read = read_memory, .look = look_at_comm, .arg = run};
	const struct nccl_limits limits = {.proven_late = true};

	run->memory = memory_reader__new(run->log);
	run->comms = comm_memory__new(run->memory);
	run->jobs = nccl_jobs__new(&limits);
	run->looker = looker__new(run->log);
	if (run->jobs)
		run->intake = nccl_intake__new(run->jobs, &hooks);
	if (run->intake)
		run->looks = nccl_looks__new(run->jobs, run->intake, run->looker);
	return run->memory && run->comms && run->looks ? 0 :
							 error__set(err, -ENOMEM, "out of memory");
}

/* Its process enters network namespaces, so it has the privileges that gpuprobe gives up. */
static int make_ras(struct nccl_run *run, struct error *err)
{
	struct ras_connector *connector;
	int ret = run->options->ras ? ras_connector__new(&connector, err) : 0;

	if (ret || !run->options->ras)
		return ret;
	run->ras = nccl_ras__new(connector, run->memory, run->jobs, run->log);
	return run->ras ? 0 : error__set(err, -ENOMEM, "out of memory");
}

static int make_report(struct nccl_run *run, struct error *err)
{
	const struct nccl_report_scene scene = {
		.options = run->options,
		.log = run->log,
		.jobs = run->jobs,
		.looks = run->looks,
		.ras = run->ras,
		.begin_ns = clock__boot_ns(),
		.lost = count_lost,
		.closed = on_closed,
		.arg = run,
	};

	nccl_jobs__begin_period(run->jobs, scene.begin_ns);
	return nccl_report__new(&scene, session__loop(run->session), &run->report, err);
}

/* Listens with the caller's permissions: gpuprobe binds no port that they may not bind. */
static int start_server(struct nccl_run *run, struct error *err)
{
	const struct http_options options = {
		.address = run->options->metrics_address,
		.version = GPUPROBE_VERSION,
		.render = nccl_report__metrics,
		.arg = run->report,
	};
	struct file_rights rights;
	int ret;

	if (!options.address)
		return 0;
	ret = file_rights__take_invokers(&rights);
	if (ret)
		return error__set(err, ret, "cannot serve metrics on %s: %s", options.address,
				  strerror(-ret));
	ret = http_server__new(session__loop(run->session), &options, &run->server, err);
	file_rights__give_back(&rights);
	return ret;
}

static int open_stream(struct nccl_run *run, struct error *err)
{
	const struct trace_stream_options stream = {
		.entry_return = true,
		.wants_cgroup = process_filter__needs_names(&run->filter),
		.line = on_line,
		.process_changed = on_process_changed,
		.held = run->options->targets.command ? held_time : NULL,
		.arg = run,
	};

	return trace_stream__new(run->skeleton, run->functions, &stream, run->log, &run->stream,
				 err);
}

static int prepare_probes(struct nccl_run *run, enum link_kind links, struct error *err)
{
	const struct targets *targets = &run->options->targets;
	const struct selection selection = {
		.api = API_BOTH,
		.choice = &run->choice.choice,
		.of_machine = !(targets->command || targets->pid_count),
	};
	const struct session_probes probes = {
		.selection = &selection,
		.links = links,
		.programs = &run->programs,
		.exec = &run->skeleton->links.trace_exec,
		.mapping = &run->skeleton->links.mapping_exit,
	};

	trace_choice__init(&run->choice, run->selection, run->functions, run->skeleton, run->log);
	return session__prepare(run->session, &probes, err);
}

static int make_events(struct nccl_run *run, struct error *err)
{
	static const struct timeval period = {.tv_usec = DRAIN_MS * 1000};
	struct event_base *loop = session__loop(run->session);

	run->ring =
		event_new(loop, trace_stream__fd(run->stream), EV_READ | EV_PERSIST, on_ring, run);
	run->tick = event_new(loop, -1, EV_PERSIST, on_tick, run);
	run->more = evtimer_new(loop, on_ring, run);
	if (!run->ring || !run->tick || !run->more || event_add(run->ring, NULL) ||
	    event_add(run->tick, &period))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

static int set_up(struct nccl_run *run, struct error *err)
{
	const struct session_hooks hooks = {.second = on_second, .arg = run, .grace_ms = GRACE_MS};
	struct features features;
	enum link_kind links;
	int ret;

	ret = session__new(&run->options->targets, run->options->duration, &hooks, run->log,
			   &run->session, err);
	if (!ret)
		ret = features__probe(&features, err);
	if (!ret)
		ret = features__choose_links(&features, getenv("GPUPROBE_LINKS"), &links, err);
	if (!ret)
		ret = return_probes__check(links, err);
	if (!ret)
		ret = make_judge(run, err);
	if (!ret)
		ret = make_ras(run, err);
	/* Opens its file while gpuprobe has all the privileges that it was started with. */
	if (!ret)
		ret = make_report(run, err);
	if (!ret)
		ret = start_server(run, err);
	if (!ret)
		ret = privileges__give_up(links, run->log, err);
	if (!ret)
		ret = load(run, &features, links, err);
	if (!ret)
		ret = select_functions(run, err);
	if (!ret)
		ret = open_stream(run, err);
	if (!ret)
		ret = prepare_probes(run, links, err);
	if (!ret)
		ret = make_events(run, err);
	if (!ret)
		ret = session__attach(run->session, err);
	if (!ret)
		trace_stream__begin(run->stream, clock__boot_ns());
	return ret;
}

/* --- the end --- */

/*
 * Warns of target processes that made no call that has probes: they may hang since before the
 * attach, and the warning says in what.
 */
static void warn_silence(struct nccl_run *run)
{
	char text[SILENT_TEXT_SIZE];

	session__look_at_silent(run->session, true);
	if (!process_filter__is_set(&run->filter) && !count_lost(run) &&
	    silent_targets__write(session__target_processes(run->session), text))
		log__warn(run->log, "%s", text);
}

/* Detaches the probes, then takes in the rest. */
static int finish(struct nccl_run *run, int *status, struct error *err)
{
	int ret;

	session__settle(run->session);
	session__detach(run->session);
	session__release_signals(run->session);
	do {
		ret = run->failure ? run->failure : trace_stream__finish(run->stream);
	} while (ret == 1);
	nccl_looks__find_ended(run->looks, true);
	warn_silence(run);
	if (ret < 0)
		error__set(err, ret, "cannot read further calls: %s", strerror(-ret));
	if (nccl_report__finish(run->report, clock__boot_ns(), ret ? NULL : err) && !ret)
		ret = -EIO;
	if (!ret)
		*status = session__status(run->session);
	return ret;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

static void tear_down(struct nccl_run *run)
{
	free_event(run->ring);
	free_event(run->tick);
	free_event(run->more);
	/* Before the session: they have events in the loop. */
	http_server__free(run->server);
	nccl_report__free(run->report);
	session__free(run->session);
	nccl_looks__free(run->looks);
	nccl_ras__free(run->ras);
	looker__free(run->looker);
	nccl_intake__free(run->intake);
	nccl_jobs__free(run->jobs);
	comm_memory__free(run->comms);
	memory_reader__free(run->memory);
	trace_stream__free(run->stream);
	trace_functions__free(run->functions);
	trace_selection__free(run->selection);
	trace_bpf__destroy(run->skeleton);
}

static int run_nccl(const struct nccl_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct nccl_run run = {.options = options, .log = &log, .filter = options->targets.filter};
	int ret = set_up(&run, err);

	if (!ret) {
		session__beat(run.session);
		ret = session__run(run.session, err);
	}
	if (!ret)
		ret = finish(&run, status, err);
	tear_down(&run);
	return ret;
}

static int run_join(const struct nccl_options *options, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	const struct join_nodes_options join = {
		.paths = options->paths,
		.path_count = options->path_count,
		.hang_ns = options->hang_ns,
		.json = options->json,
		.output = options->file,
	};

	return join_nodes__run(&join, &log, err);
}

int nccl_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct nccl_options options;
	int ret = nccl_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &nccl_option_table, status)) {
		ret = options.join ? run_join(&options, err) : run_nccl(&options, status, err);
		if (options.join && !ret)
			*status = 0;
	}
	nccl_options__clear(&options);
	return ret;
}
