// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe trace`: sets its parts up, runs the event loop and ends it, see subcommand.h.
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "cli/session/nvtx_watch.h"
#include "cli/session/target_pids.h"
#include "cli/commands/earlier_lines.h"
#include "cli/commands/attach_gaps.h"
#include "cli/session/session.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/trace_choice.h"
#include "cli/commands/trace_end.h"
#include "cli/commands/trace_gpu.h"
#include "cli/commands/trace_recorded.h"
#include "cli/commands/trace_run.h"
#include "cli/commands/trace_session.h"
#include "cli/options/trace_options.h"
#include "cli/commands/trace_sink.h"
#include "cli/session/watch.h"
#include "gen/trace.skel.h"
#include "api/api.h"
#include "probe/features.h"
#include "probe/return_probes.h"
#include "output/enum_names.h"
#include "probe/trace_object.h"
#include "trace/stream.h"

/* a COMMAND that hangs in a call may ignore Ctrl-C, and that call is of interest */
#define GRACE_MS 1000
#define CALLERS 256  /* cache size; with more processes some are looked up again */
#define DRAIN_MS 100 /* maximum latency of a line, in ms */

struct trace {
	const struct trace_options *options;
	const struct log *log;
	struct process_filter filter; /* the targets', opened */
	struct trace_session owner;
	struct session *session; /* the owner's */
	struct trace_bpf *skeleton;
	bool nvtx; /* COMMAND gets the library for NVTX ranges */
	struct library_points nvtx_points;
	struct probe_programs programs;
	struct trace_functions *functions;
	struct trace_choice choice;
	struct trace_stream *stream;
	struct trace_sink *sink;
	bool gives_library;    /* COMMAND gets that for GPU times */
	struct trace_gpu *gpu; /* NULL: no GPU times */
	struct attach_gaps *gaps;
	struct earlier_lines *earlier; /* NULL: not wanted */
	struct event *ring, *tick, *more, *resized;
	int failure; /* error of the stream */
	/* process number + 1 of a process known to have made calls, indexed by the number */
	uint32_t callers[CALLERS];
	/* the same for processes that the filter has judged */
	struct {
		uint32_t number;
		bool left_out;
	} judged[CALLERS];
};

/* --- events --- */

static void note_caller(struct trace *trace, const struct trace_process *process)
{
	uint32_t *entry = &trace->callers[process->number % CALLERS];

	if (*entry == process->number + 1)
		return;
	*entry = process->number + 1;
	target_pids__see_call(session__target_processes(trace->session), process->pid,
			      process->parent);
}

/* By container and pod: BPF has judged the rest. */
static bool is_left_out(struct trace *trace, const struct trace_process *process)
{
	size_t entry = process->number % CALLERS;

	if (!process_filter__needs_names(&trace->filter))
		return false;
	if (trace->judged[entry].number != process->number + 1) {
		trace->judged[entry].number = process->number + 1;
		trace->judged[entry].left_out =
			!process_filter__takes_path(&trace->filter, process->cgroup);
	}
	return trace->judged[entry].left_out;
}

static int on_line(const struct trace_line *line, void *arg)
{
	struct trace *trace = arg;

	if (line->process && is_left_out(trace, line->process))
		return 0;
	if (line->process) {
		attach_gaps__line(trace->gaps, line->process);
		note_caller(trace, line->process);
	}
	if (trace_sink__line(trace->sink, line))
		return 1;
	return trace->gpu && trace_gpu__call(trace->gpu, line);
}

static int on_gpu_line(const struct trace_line *line, void *arg)
{
	struct trace *trace = arg;

	return trace_sink__line(trace->sink, line);
}

/* Reads one round. Signals and notices get their turn before the next. */
static void drain(struct trace *trace, bool flush)
{
	static const struct timeval at_once = {0};
	int ret = trace_stream__drain(trace->stream);

	if (ret == 1)
		evtimer_add(trace->more, &at_once);
	if (ret < 0 && ret != -ECANCELED)
		trace->failure = ret;
	if (ret >= 0 && trace->gpu &&
	    trace_gpu__drain(trace->gpu, trace_stream__passed(trace->stream)))
		ret = -ECANCELED;
	if (ret < 0 || ((flush || !ret) && trace_sink__flush(trace->sink)))
		session__stop(trace->session);
}

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	drain(arg, false);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct trace *trace = arg;

	(void)fd;
	(void)what;
	session__beat(trace->session);
	drain(trace, true);
}

static void on_resize(evutil_socket_t fd, short what, void *arg)
{
	struct trace *trace = arg;

	(void)fd;
	(void)what;
	trace_sink__resize(trace->sink);
}

/* With readings, the model's BPF object tells it. */
static void on_process_changed(const struct record_library *record, void *arg)
{
	struct trace *trace = arg;

	if (!trace->owner.readings)
		session__process_changed(trace->session, record);
}

static uint64_t held_time(pid_t pid, uint64_t from_ns, uint64_t to_ns, void *arg)
{
	const struct trace *trace = arg;

	return session__held_ns(trace->session, pid, from_ns, to_ns);
}

static void on_late_process(pid_t pid, uint64_t time_ns, void *arg)
{
	struct trace *trace = arg;

	(void)time_ns;
	attach_gaps__add(trace->gaps, pid);
}

/* --- setting up --- */

static int choose_links(struct features *features, bool no_returns, enum link_kind *links,
			struct error *err)
{
	int ret = features__probe(features, err);

	if (!ret)
		ret = features__choose_links(features, getenv("GPUPROBE_LINKS"), links, err);
	return ret || no_returns ? ret : return_probes__check(*links, err);
}

static int load(struct trace *trace, const struct features *features, enum link_kind links,
		struct error *err)
{
	const struct trace_options *options = trace->options;
	struct trace_object_options object = {
		.links = links,
		.only_watched = options->targets.command || options->targets.pid_count,
		.hold = options->targets.command && !trace->owner.readings,
		.handles = trace_selection__wants_libraries(options->selection),
		.nvtx = trace->nvtx,
		.ring_bytes = options->ring_bytes,
		.stacks = {options->stacks.mode, options->stacks.size,
			   (uint32_t)options->stacks.max},
		.config = options->config,
	};
	int ret = process_filter__open(&trace->filter, err);

	object.config.cgroup = trace->filter.cgroup_id.id;
	object.config.cgroup_level = trace->filter.cgroup_id.level;
	if (!ret)
		ret = trace_object__load(&object, features, &trace->skeleton, err);
	if (ret)
		return ret;
	trace_object__programs(trace->skeleton, &trace->programs);
	return trace->nvtx ? trace_object__attach_nvtx(trace->skeleton, links, nvtx_watch__path(),
						       &trace->nvtx_points, err) :
			     0;
}

static int open_stream(struct trace *trace, struct error *err)
{
	const struct trace_options *options = trace->options;
	struct trace_stream_options stream = {
		.kernel_args = options->config.kernel_args,
		.stack_mode = options->stacks.mode,
		.max_stacks = options->stacks.max,
		.entry_return = options->config.entry_return,
		.full_names = options->full_names,
		.wants_cgroup = options->record || trace_options__shows(options, COLUMN_CGROUP) ||
				process_filter__needs_names(&trace->filter),
		.wants_locations = options->lines,
		.wants_names = options->record || options->draws,
		.line = on_line,
		.process_changed = on_process_changed,
		.held = options->targets.command ? held_time : NULL,
		.arg = trace,
	};

	return trace_stream__new(trace->skeleton, trace->functions, &stream, trace->log,
				 &trace->stream, err);
}

static int prepare_probes(struct trace *trace, enum link_kind links, struct error *err)
{
	const struct selection selection = {
		.api = API_BOTH,
		.choice = &trace->choice.choice,
		.of_machine =
			!(trace->options->targets.command || trace->options->targets.pid_count),
		.no_returns = trace->options->no_returns,
	};
	const struct session_probes probes = {
		.selection = &selection,
		.links = links,
		.programs = &trace->programs,
		.exec = &trace->skeleton->links.trace_exec,
		.mapping = &trace->skeleton->links.mapping_exit,
	};

	trace_choice__init(&trace->choice, trace->options->selection, trace->functions,
			   trace->skeleton, trace->log);
	return trace_session__prepare(&trace->owner, &probes, err);
}

static int make_events(struct trace *trace, struct error *err)
{
	static const struct timeval period = {.tv_usec = DRAIN_MS * 1000};
	struct event_base *loop = session__loop(trace->session);

	trace->ring = event_new(loop, trace_stream__fd(trace->stream), EV_READ | EV_PERSIST,
				on_ring, trace);
	trace->tick = event_new(loop, -1, EV_PERSIST, on_tick, trace);
	trace->more = evtimer_new(loop, on_ring, trace);
	trace->resized = evsignal_new(loop, SIGWINCH, on_resize, trace);
	if (!trace->ring || !trace->tick || !trace->more || !trace->resized)
		return error__set(err, -ENOMEM, "out of memory");
	if (event_add(trace->ring, NULL) || event_add(trace->tick, &period) ||
	    event_add(trace->resized, NULL))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

/* The program runs without GPU times rather than not at all. */
static void begin_gpu_times(struct trace *trace)
{
	struct error err;

	if (!trace->options->gpu_times)
		return;
	trace->gives_library = !trace_gpu__set_variables(&err);
	if (!trace->gives_library)
		log__warn(trace->log, "%s", err.text);
	else if (!trace_gpu__kinds(trace->options))
		log__warn(trace->log, "--gpu-times shows nothing: -e and --api select no call that "
				      "submits work to a GPU");
}

static void see_process(pid_t pid, void *arg)
{
	struct trace *trace = arg;

	trace_stream__see_process(trace->stream, pid);
}

/* Warns of unknown names: mistyped, or of a newer library that is loaded later. */
static int check_names(const struct trace *trace, struct error *err)
{
	const struct trace_selection *selection = trace->options->selection;
	int ret = trace_selection__check_names(selection, trace->functions, err);

	if (ret)
		return error__prefix(err, ret, "-e");
	trace_choice__warn_unknown(selection, trace->functions, "no function of this name is known",
				   trace->log);
	return 0;
}

static void on_enough(void *arg)
{
	struct trace *trace = arg;

	session__stop(trace->session);
}

static void begin(struct trace *trace)
{
	const struct earlier_lines_scene scene = {
		.options = trace->options,
		.log = trace->log,
		.filter = &trace->filter,
		.functions = trace->functions,
		.stream = trace->stream,
		.skeleton = trace->skeleton,
		.sink = trace->sink,
	};

	trace_stream__begin(trace->stream, clock__boot_ns());
	trace->earlier =
		earlier_lines__begin(&scene, session__loop(trace->session), on_enough, trace);
}

/* Before COMMAND begins. It runs without NVTX ranges rather than not at all. */
static void begin_nvtx(struct trace *trace)
{
	struct error err;

	if (!trace->options->nvtx)
		return;
	trace->nvtx = !nvtx_watch__set_variable(&err);
	if (!trace->nvtx)
		log__warn(trace->log, "%s", err.text);
}

static int begin_session(struct trace *trace, struct error *err)
{
	const struct session_hooks hooks = {
		.late = on_late_process,
		.arg = trace,
		.grace_ms = GRACE_MS,
	};
	int ret = trace_session__begin(&trace->owner, trace->options, &hooks, trace->gives_library,
				       trace->log, err);

	trace->session = trace->owner.session;
	return ret;
}

/* Opens its file while gpuprobe has all the privileges that it was started with. */
static int open_sink(struct trace *trace, const struct trace_origin *origin, struct error *err)
{
	int ret = trace_sink__new(trace->options, origin, session__end_fd(trace->session),
				  trace->log, &trace->sink, err);

	if (!ret && trace_sink__start(trace->sink, session__loop(trace->session)))
		ret = error__set(err, -ENOMEM, "out of memory");
	return ret;
}

static int set_up(struct trace *trace, int *status, struct error *err)
{
	const struct trace_options *options = trace->options;
	const struct timespec wall = clock__wall();
	struct trace_origin origin = {.begin_ns = clock__boot_ns()};
	struct utsname machine;
	struct features features;
	enum link_kind links;
	int ret;

	origin.wall_offset_ns =
		(int64_t)wall.tv_sec * (int64_t)NS_PER_S + wall.tv_nsec - (int64_t)origin.begin_ns;
	if (!uname(&machine)) {
		origin.host = machine.nodename;
		origin.kernel = machine.release;
	}
	begin_gpu_times(trace);
	ret = begin_session(trace, err);
	if (!ret)
		ret = choose_links(&features, trace->options->no_returns, &links, err);
	if (!ret)
		ret = open_sink(trace, &origin, err);
	if (!ret)
		ret = trace_session__give_up(&trace->owner, links,
					     trace_sink__recorder(trace->sink), trace->log, err);
	if (!ret)
		ret = load(trace, &features, links, err);
	if (ret)
		return ret;
	trace->gaps = attach_gaps__new(origin.begin_ns, trace->log);
	trace->functions = trace_functions__new(options->config.kernel_args);
	if (!trace->gaps || !trace->functions ||
	    (trace->nvtx && trace_functions__add_ranges(trace->functions)))
		return error__set(err, -ENOMEM, "out of memory");
	ret = open_stream(trace, err);
	if (!ret && trace->gives_library)
		ret = trace_gpu__new(trace->skeleton, links, options, trace->log, on_gpu_line,
				     trace, &trace->gpu, err);
	if (!ret)
		ret = prepare_probes(trace, links, err);
	if (!ret)
		ret = make_events(trace, err);
	if (!ret && options->stacks.mode)
		ret = watch__each_process(&options->targets, see_process, trace, err);
	if (!ret)
		ret = trace_session__attach(&trace->owner, err);
	if (ret)
		return ret;
	begin(trace);
	ret = check_names(trace, err);
	if (ret)
		*status = EXIT_USAGE;
	return ret;
}

/* --- the end --- */

/* Detaches the probes, then handles the rest: events in the ring, and calls still in progress. */
static int finish(struct trace *trace, int *status, struct error *err)
{
	struct trace_end end = {.options = trace->options, .log = trace->log, .sink = trace->sink};
	struct attacher_counts attached;
	int ret;

	earlier_lines__finish(trace->earlier);
	trace_session__finish(&trace->owner, &attached);
	session__detach(trace->session);
	library_points__detach(&trace->nvtx_points);
	session__release_signals(trace->session);
	do {
		ret = trace->failure ? trace->failure : trace_stream__finish(trace->stream);
	} while (ret == 1);
	if (trace->gpu)
		trace_gpu__finish(trace->gpu);
	end.gpu = trace->gpu;
	session__look_at_silent(trace->session, true);
	end.targets = session__target_processes(trace->session);
	trace_stream__count(trace->stream, &end.counts);
	end.missing = (struct trace_missing){.calls = end.counts.lost,
					     .libraries = attached.skipped,
					     .before = trace_sink__earlier_calls(trace->sink)};
	if (trace->gpu)
		end.missing.gpu_work = trace_gpu__lost(trace->gpu);
	end.failed = ret < 0 && ret != -ECANCELED;
	trace_end__warn(&end, trace->gaps);
	ret = end.failed ? error__set(err, ret, "cannot read further calls: %s", strerror(-ret)) :
			   0;
	if (trace_sink__finish(trace->sink, &end.missing, &end.counts, ret ? NULL : err) && !ret)
		ret = -EIO;
	trace_end__report(&end);
	trace_sink__report_timeline(trace->sink, trace->log);
	if (!ret)
		*status = trace->options->strict && (end.missing.calls || end.missing.libraries ||
						     end.missing.gpu_work) ?
				  EXIT_LOST :
				  session__status(trace->session);
	return ret;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

static void tear_down(struct trace *trace)
{
	free_event(trace->ring);
	free_event(trace->tick);
	free_event(trace->more);
	free_event(trace->resized);
	earlier_lines__free(trace->earlier);
	trace_gpu__free(trace->gpu);
	/* Before the session: it may have events in the loop. */
	trace_sink__free(trace->sink);
	trace_session__free(&trace->owner);
	library_points__detach(&trace->nvtx_points);
	trace_stream__free(trace->stream);
	trace_functions__free(trace->functions);
	trace_bpf__destroy(trace->skeleton);
	attach_gaps__free(trace->gaps);
}

int trace__run(const struct trace_options *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct trace trace = {.options = options,
			      .log = &log,
			      .nvtx_points = {.link = -1},
			      .filter = options->targets.filter};
	int ret;

	begin_nvtx(&trace);
	ret = set_up(&trace, status, err);
	if (!ret) {
		session__beat(trace.session);
		ret = session__run(trace.session, err);
	}
	if (!ret)
		ret = finish(&trace, status, err);
	tear_down(&trace);
	return ret;
}

/* Lists only the newest of a symbol's versions. */
static void list_functions(const struct trace_selection *selection)
{
	for (size_t row = 0; row < api_function_count; row++) {
		const struct api_function *function = &api_functions[row];

		if (api__find(function->symbol, API_NEWEST) != (int)row ||
		    !trace_selection__wants(selection, function))
			continue;
		printf("%s %s %s\n", function->symbol,
		       enum_names__layer((enum layer)function->desc.layer), function->family);
	}
}

int trace_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct trace_options options;
	int ret = trace_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &trace_option_table, status))
		ret = options.input.path ? trace_recorded__run(&options, status, err) :
					   trace__run(&options, status, err);
	else if (ret == TRACE_OPTIONS_LIST)
		list_functions(options.selection);
	else if (ret == TRACE_OPTIONS_SCHEMA)
		trace_output__print_json_schema(stdout);
	trace_options__clear(&options);
	return ret;
}
