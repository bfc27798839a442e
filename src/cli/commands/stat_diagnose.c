// SPDX-License-Identifier: BSD-2-Clause
// gpuprobe stat and gpuprobe diagnose: the profile of a run and the findings in it, see
// profile_options.h.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/options/profile_options.h"
#include "cli/commands/idle_times.h"
#include "cli/commands/stat_files.h"
#include "cli/files/terminal.h"
#include "cli/session/gpu_times_watch.h"
#include "cli/session/kineto_watch.h"
#include "cli/session/live_run.h"
#include "cli/session/nvtx_watch.h"
#include "cli/session/xid_watch.h"
#include "cli/commands/subcommand.h"
#include "finding/finding.h"
#include "gpuprobe/steps.h"
#include "record/gpu_reading.h"
#include "model/growth.h"
#include "output/finding/findings.h"
#include "output/stat/stat.h"

#define SAMPLE_PERIOD 1.0 /* seconds; less if a short window needs it */

struct profile_run {
	const struct profile_command *options;
	const struct log *log;
	unsigned int needs;	   /* NEEDS_* that are met */
	struct replay *replay;	   /* NULL: live */
	struct gpu_times recorded; /* of a reading */
	struct live_run *live;
	struct idle_times *idle_times;
	struct stat_files *files;    /* NULL: none */
	struct xid_watch *xids;	     /* NULL: none are watched */
	struct kineto_watch *kineto; /* NULL: no traces are asked for */
	struct findings *findings;
	struct finding_list list; /* findings of the latest report */
	unsigned long number;	  /* number of reports so far */
	bool warned;
	bool gpu_times;		   /* COMMAND gets the library for them */
	bool nvtx;		   /* the same for NVTX ranges */
	struct stack_break broken; /* in stacks of the latest list */
};

/* --- reports --- */

/* Warns once only: memory may run out again at each report. */
static void warn_memory(struct profile_run *run, int ret)
{
	if (ret && !run->warned)
		log__warn(run->log, "out of memory: some findings may be missing");
	run->warned = run->warned || ret;
}

static void sample(void *arg)
{
	struct profile_run *run = arg;

	if (run->xids)
		xid_watch__look(run->xids, live_model__model(run->live->live));
	warn_memory(run, findings__sample(run->findings, live_run__model(run->live)));
}

static void note_broken(struct profile_run *run)
{
	run->broken = (struct stack_break){0};
	for (size_t i = 0; i < run->list.count; i++)
		stack_break__note(&run->broken, run->list.items[i].stack);
}

/* The list may outlive its stacks: if the reader has gone, no new list is made at the end. */
static void look(void *arg)
{
	struct profile_run *run = arg;

	sample(run);
	warn_memory(run, findings__detect(run->findings, live_run__model(run->live), &run->list));
	note_broken(run);
}

/* The GPU times of the run, or of the latest reading; NULL: none were asked for, or no memory. */
static const struct gpu_times *gpu_times_of(struct profile_run *run)
{
	const struct recorded_reading *reading = run->replay ? replay__reading(run->replay) : NULL;

	if (run->kineto)
		return kineto_watch__times(run->kineto);
	if (run->live->live)
		return live_model__gpu_times(run->live->live);
	gpu_times__clear(&run->recorded);
	if (!reading || !reading->gpu_times ||
	    recorded_gpu_times__restore(reading->gpu_times, &run->recorded))
		return NULL;
	return &run->recorded;
}

static struct stat_report report_of(struct profile_run *run)
{
	return (struct stat_report){
		.model = live_run__model(run->live),
		.began_ns = findings__began_ns(run->findings),
		.state = run->findings,
		.findings = &run->list,
		.options = &run->options->output,
		.gpu_times = gpu_times_of(run),
		.ranges = run->live->live ? live_model__nvtx_ranges(run->live->live) : NULL,
		.gpu_graph_nodes = run->options->gpu_graph_nodes,
		.gpu_work = run->options->diagnose,
		.getters = run->needs & NEEDS_GETTERS,
		.number = run->number,
		.width = run->options->file ? 0 : terminal__width(STDOUT_FILENO),
	};
}

static int print(FILE *out, void *arg)
{
	struct profile_run *run = arg;
	struct stat_report report;

	if (run->kineto && live_run__model(run->live)->final)
		kineto_watch__settle(run->kineto);
	report = report_of(run);
	run->number++;
	if (run->options->form == PROFILE_JSON)
		stat_json__print(out, &report);
	else if (run->options->form == PROFILE_CSV)
		stat_csv__print(out, &report);
	else if (run->options->diagnose)
		diagnose_text__print(out, &report);
	else
		stat_text__print(out, &report);
	return 0;
}

/* Writes the tables of the last report. There was none if its reader has gone before. */
static int write_files(struct profile_run *run, struct error *err)
{
	struct stat_report report;

	if (!run->files)
		return 0;
	/* What was recorded does not go on. */
	if (!run->replay && !live_run__model(run->live)->final) {
		live_model__finish(run->live->live);
		look(run);
	}
	report = report_of(run);
	return stat_files__write(run->files, &report, err);
}

static void add_idle_time(const struct process *process, const struct record_idle *record,
			  void *arg)
{
	const struct profile_run *run = arg;

	idle_times__add(run->idle_times, process, record);
}

/* --- setting up --- */

/* Returns 0, -ENOMEM, or -EINVAL for an invalid threshold. */
static int make_findings(struct profile_run *run, struct error *err)
{
	const struct findings_options options = {
		.needs = run->needs,
		/* What programs read has labels. */
		.full_names = run->options->output.full_names && run->options->form == PROFILE_TEXT,
		.window_ns = run->options->window_ns,
	};
	int ret;

	run->findings = findings__new(&options);
	if (!run->findings)
		return error__set(err, -ENOMEM, "out of memory");
	ret = findings__set_thresholds(run->findings, run->options->thresholds.texts,
				       run->options->thresholds.count, err);
	return ret ? error__prefix(err, ret, "--threshold") : 0;
}

/* The program runs without GPU times rather than not at all. */
static void begin_gpu_times(struct profile_run *run)
{
	struct error err;

	if (!run->options->gpu_times)
		return;
	run->gpu_times = !gpu_times_watch__set_variables(run->options->gpu_share,
							 run->options->gpu_graph_nodes, &err);
	if (run->gpu_times)
		run->needs |= NEEDS_GPU_TIMES;
	else
		log__warn(run->log, "%s", err.text);
}

/* Where the driver has no tracepoint for them, they are not looked for. */
static int watch_xids(struct profile_run *run, struct error *err)
{
	int ret;

	if (run->replay || !run->options->diagnose)
		return 0;
	ret = xid_watch__new(session__loop(live_model__session(run->live->live)), false, run->log,
			     &run->xids, err);
	if (run->xids)
		findings__add_needs(run->findings, NEEDS_XIDS);
	return ret;
}

/* While gpuprobe has all its privileges and one thread. */
static int start_kineto(struct profile_run *run, struct error *err)
{
	const struct targets *targets = &run->options->targets;

	if (!run->options->kineto_ns)
		return 0;
	return kineto_watch__new(targets->pids, targets->pid_count, run->options->kineto_ns,
				 run->log, &run->kineto, err);
}

static void on_traces(void *arg)
{
	const struct profile_run *run = arg;

	if (!(run->options->duration > 0))
		session__stop(live_model__session(run->live->live));
}

static int begin_kineto(struct profile_run *run, struct error *err)
{
	if (!run->kineto)
		return 0;
	return kineto_watch__begin(run->kineto, session__loop(live_model__session(run->live->live)),
				   on_traces, run, err);
}

static void begin_nvtx(struct profile_run *run)
{
	struct error err;

	if (!run->options->nvtx)
		return;
	run->nvtx = !nvtx_watch__set_variable(&err);
	if (!run->nvtx)
		log__warn(run->log, "%s", err.text);
}

static int set_up(struct profile_run *run, struct error *err)
{
	const struct profile_command *options = run->options;
	const struct live_run_options live = {
		.replay = run->replay,
		.announces = true,
		.live =
			{
				.targets = &options->targets,
				.duration = options->duration,
				.sections = SECTION_ALL,
				.api = options->api,
				.needs = run->needs,
				.nccl_hang_ns = findings__nccl_hang_ns(run->findings),
				.nccl_keeps_past = true,
				.idle_time = options->idle_file ? add_idle_time : NULL,
				.idle_arg = run,
				.steps = STEP_RECORDS,
				.host_rate = options->host ? options->host_rate : 0,
				.max_overhead = options->max_overhead,
				.overhead_by_default = options->overhead_by_default,
				.sample_launches_alone = options->diagnose,
				.limits = options->limits,
				.oom_reports = true,
				.oom_directory = options->oom_directory,
				.tensor_python = true,
				.gpu_times = run->gpu_times,
				.gpu_share = options->gpu_share,
				.nvtx = run->nvtx,
				.steps_by = run->nvtx ? options->steps_by : NULL,
				.top = 1,
				.stacks = options->stacks,
				.stack_sites = (1u << SITE_KINDS) - 1,
			},
		.reports =
			{
				.interval = options->interval,
				.file = options->file,
				.whole = true,
				.look = look,
				.print = print,
				.arg = run,
			},
		/*
		 * Only findings on sites of live memory need the lists, and there are no sites
		 * without stacks.
		 */
		.samples =
			{
				.period = fmin(SAMPLE_PERIOD,
					       (double)GROWTH_SAMPLE_NS(options->window_ns) /
						       (double)NS_PER_S),
				.with_lists = options->stacks.mode != STACK_OFF,
				.take = sample,
				.arg = run,
			},
	};
	int ret =
		options->idle_file ? idle_times__new(options->idle_file, &run->idle_times, err) : 0;

	if (!ret && options->csv_directory)
		ret = stat_files__new(options->csv_directory, &run->files, err);
	if (!ret)
		ret = live_run__new(&live, run->log, &run->live, err);
	if (!ret)
		ret = watch_xids(run, err);
	if (!ret)
		ret = live_run__attach(run->live, err);
	if (!ret)
		ret = begin_kineto(run, err);
	if (!ret)
		findings__begin(run->findings, run->replay ?
						       replay__reading(run->replay)->began_ns :
						       clock__boot_ns());
	return ret;
}

/* COMMAND's failure takes precedence over findings in it. */
static int status_of(const struct profile_run *run)
{
	int status = live_run__status(run->live);

	for (size_t i = 0; i < run->list.count && !status; i++)
		if (run->options->fail_on != NO_FAIL &&
		    (int)run->list.items[i].severity >= run->options->fail_on)
			status = EXIT_FINDINGS;
	return status;
}

/* Findings need what gpuprobe watched while it recorded. */
static int open_recording(struct profile_run *run, struct error *err)
{
	int ret;

	if (!run->options->input.path)
		return 0;
	ret = replay__new(&run->options->input, run->log, &run->replay, err);
	if (ret)
		return ret;
	run->needs = replay__reading(run->replay)->needs;
	if (run->needs & NEEDS_PROFILE)
		return 0;
	return error__set(err, -ENODATA, "%s has no profile of the run", run->options->input.path);
}

static int run_command(const struct profile_command *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->log_level);
	struct profile_run run = {
		.options = options,
		.log = &log,
		.needs = NEEDS_PROFILE | (options->diagnose ? NEEDS_ASKS | NEEDS_NCCL : 0) |
			 (options->getters ? NEEDS_GETTERS : 0),
	};
	char silence[SILENT_TEXT_SIZE];
	int ret = open_recording(&run, err);

	if (!ret) {
		begin_gpu_times(&run);
		begin_nvtx(&run);
	}
	if (!ret) {
		ret = make_findings(&run, err);
		if (ret == -EINVAL)
			*status = EXIT_USAGE;
	}
	if (!ret)
		ret = start_kineto(&run, err);
	if (!ret)
		ret = set_up(&run, err);
	if (!ret)
		ret = live_run__until_end(run.live, err);
	if (!ret)
		ret = write_files(&run, err);
	if (!ret)
		ret = idle_times__finish(run.idle_times, err);
	/* Tables of calls cannot show processes without calls. */
	if (!ret && options->form == PROFILE_CSV &&
	    silent_targets__write(&live_run__model(run.live)->targets, silence))
		log__warn(&log, "%s", silence);
	stack_choice__warn_broken(&options->stacks, &run.broken, &log);
	if (!ret)
		*status = status_of(&run);
	finding_list__clear(&run.list);
	findings__free(run.findings);
	xid_watch__free(run.xids);
	kineto_watch__free(run.kineto);
	live_run__free(run.live);
	replay__free(run.replay);
	gpu_times__clear(&run.recorded);
	idle_times__free(run.idle_times);
	stat_files__free(run.files);
	return ret;
}

static void report(const struct profile_command *options)
{
	bool all = options->explain && !strcmp(options->explain, "all");

	if (options->list)
		findings_text__list(stdout);
	for (size_t i = 0; options->explain && i < finding_kind_count; i++) {
		if (!all && strcmp(finding_kinds[i]->id, options->explain))
			continue;
		findings_text__explain(stdout, finding_kinds[i]);
		if (all && i + 1 < finding_kind_count)
			putchar('\n');
	}
}

static int start(bool diagnose, int argc, char **argv, int *status, struct error *err)
{
	struct profile_command options;
	int ret = profile_options__parse(&options, diagnose, argc, argv, err);

	if (subcommand__is_done(ret, diagnose ? &diagnose_options : &stat_options, status))
		goto out;
	if (options.explain || options.list) {
		*status = 0;
		report(&options);
		goto out;
	}
	ret = run_command(&options, status, err);
out:
	profile_options__clear(&options);
	return ret;
}

int stat_command__run(int argc, char **argv, int *status, struct error *err)
{
	return start(false, argc, argv, status, err);
}

int diagnose_command__run(int argc, char **argv, int *status, struct error *err)
{
	return start(true, argc, argv, status, err);
}
