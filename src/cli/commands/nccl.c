// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe nccl`: traces the calls of NCCL, feeds the judge with them and prints what it finds;
// see subcommand.h.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/commands/join_nodes.h"
#include "cli/commands/nccl_report.h"
#include "cli/commands/subcommand.h"
#include "cli/options/nccl_options.h"
#include "cli/session/nccl_watch.h"
#include "cli/session/privileges.h"
#include "cli/session/session.h"
#include "cli/session/target_pids.h"
#include "gen/trace.skel.h"
#include "privilege/file_rights.h"
#include "probe/features.h"
#include "probe/return_probes.h"
#include "serve/http.h"
#include "trace/line.h"

#define GRACE_MS 1000 /* a COMMAND that hangs may ignore Ctrl-C */

struct nccl_run {
	const struct nccl_options *options;
	const struct log *log;
	struct process_filter filter; /* the targets', opened */
	struct session *session;
	struct nccl_watch *watch;
	struct nccl_ras *ras; /* NULL: without --ras */
	struct nccl_report *report;
	struct http_server *server;
	uint32_t seen; /* number + 1 of the process of the latest line */
};

/* --- events --- */

static void on_called(const struct trace_line *line, void *arg)
{
	struct nccl_run *run = arg;

	if (run->seen == line->process->number + 1)
		return;
	run->seen = line->process->number + 1;
	target_pids__see_call(session__target_processes(run->session), line->process->pid,
			      line->process->parent);
}

static void on_failed(void *arg)
{
	const struct nccl_run *run = arg;

	session__stop(run->session);
}

static void on_second(void *arg)
{
	struct nccl_run *run = arg;

	session__beat(run->session);
	nccl_watch__second(run->watch);
	if (run->ras)
		nccl_ras__identify(run->ras);
	nccl_report__judge(run->report, clock__boot_ns());
}

static void on_process_changed(const struct record_library *record, void *arg)
{
	struct nccl_run *run = arg;

	session__process_changed(run->session, record);
}

static uint64_t count_lost(void *arg)
{
	const struct nccl_run *run = arg;

	return nccl_watch__lost(run->watch);
}

static void on_closed(void *arg)
{
	const struct nccl_run *run = arg;

	session__stop(run->session);
}

/* --- setting up --- */

static int make_watch(struct nccl_run *run, struct error *err)
{
	const struct targets *targets = &run->options->targets;
	const struct nccl_watch_options watch = {
		.targets = targets,
		.filter = &run->filter,
		.only_watched = targets->command || targets->pid_count,
		.hold = targets->command,
		.ring_bytes = run->options->ring_bytes,
		.called = on_called,
		.process_changed = on_process_changed,
		.failed = on_failed,
		.arg = run,
	};

	return nccl_watch__new(&watch, run->log, &run->watch, err);
}

static int load(struct nccl_run *run, const struct features *features, enum link_kind links,
		struct error *err)
{
	int ret = process_filter__open(&run->filter, err);

	return ret ? ret : nccl_watch__load(run->watch, features, links, err);
}

/* Its process enters network namespaces, so it has the privileges that gpuprobe gives up. */
static int make_ras(struct nccl_run *run, struct error *err)
{
	struct ras_connector *connector;
	int ret = run->options->ras ? ras_connector__new(&connector, err) : 0;

	if (ret || !run->options->ras)
		return ret;
	run->ras = nccl_ras__new(session__loop(run->session), connector, run->watch->memory,
				 run->watch->jobs, run->log);
	return run->ras ? 0 : error__set(err, -ENOMEM, "out of memory");
}

static int make_report(struct nccl_run *run, struct error *err)
{
	const struct nccl_report_scene scene = {
		.options = run->options,
		.log = run->log,
		.watch = run->watch,
		.ras = run->ras,
		.begin_ns = clock__boot_ns(),
		.lost = count_lost,
		.closed = on_closed,
		.arg = run,
	};

	nccl_jobs__begin_period(run->watch->jobs, scene.begin_ns);
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

static int prepare_probes(struct nccl_run *run, enum link_kind links, struct error *err)
{
	const struct targets *targets = &run->options->targets;
	const struct selection selection = {
		.api = API_BOTH,
		.choice = &run->watch->choice.choice,
		.of_machine = !(targets->command || targets->pid_count),
	};
	const struct session_probes probes = {
		.selection = &selection,
		.links = links,
		.programs = &run->watch->programs,
		.exec = &run->watch->skeleton->links.trace_exec,
		.mapping = &run->watch->skeleton->links.mapping_exit,
	};

	return session__prepare(run->session, &probes, err);
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
		ret = make_watch(run, err);
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
		ret = prepare_probes(run, links, err);
	if (!ret)
		ret = nccl_watch__listen(run->watch, session__loop(run->session), err);
	if (!ret)
		ret = session__attach(run->session, err);
	if (!ret)
		nccl_watch__begin(run->watch);
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
	ret = nccl_watch__finish(run->watch);
	warn_silence(run);
	if (ret < 0)
		error__set(err, ret, "cannot read further calls: %s", strerror(-ret));
	if (nccl_report__finish(run->report, clock__boot_ns(), ret ? NULL : err) && !ret)
		ret = -EIO;
	if (!ret)
		*status = session__status(run->session);
	return ret;
}

static void tear_down(struct nccl_run *run)
{
	/* Before the session: they have events in the loop. */
	http_server__free(run->server);
	nccl_report__free(run->report);
	nccl_ras__free(run->ras);
	nccl_watch__unlisten(run->watch);
	session__free(run->session);
	nccl_watch__free(run->watch);
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
