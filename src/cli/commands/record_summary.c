// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe record --level summary`, see record_summary.h.
#include "cli/commands/record_summary.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "cli/commands/record_watch.h"
#include "cli/commands/subcommand.h"
#include "cli/files/output_file.h"
#include "cli/session/flight_recorder.h"
#include "cli/session/gpu_times_watch.h"
#include "cli/session/live_run.h"
#include "gpuprobe/steps.h"
#include "host/watch.h"
#include "record/model_codec.h"
#include "record/writer.h"

#define SUMMARY_TOP 20 /* live allocations of a process */
#define SUMMARY_NEEDS (NEEDS_PROFILE | NEEDS_ASKS | NEEDS_NCCL)

struct record_summary {
	const struct record_command *options;
	const struct log *log;
	struct live_run *run;
	struct recording_writer *file;
	struct model_writer *models;
	struct flight_recorder *flight; /* NULL: all goes to one file */
	struct record_watch *watch;	/* with it */
	uint64_t began_ns;		/* when the probes were attached */
	uint64_t readings, lost;
	bool full;   /* --max-size is reached */
	int failure; /* of writing */
};

/* --- readings --- */

/* A reading is a chunk: SIGKILL costs what came after the latest one. */
static int write_reading(struct record_summary *summary)
{
	const struct recorded_reading reading = {
		.model = live_run__model(summary->run),
		.began_ns = summary->began_ns,
		.needs = SUMMARY_NEEDS | (summary->options->tensors ? NEEDS_TENSORS : 0),
	};
	const uint8_t *bytes;
	size_t length;
	bool keyframe;
	int ret;

	if (summary->flight && flight_recorder__wants_keyframe(summary->flight))
		model_writer__lost(summary->models);
	keyframe = model_writer__is_keyframe(summary->models);
	ret = model_writer__write(summary->models, &reading, &bytes, &length);
	if (ret)
		return ret;
	if (keyframe)
		recording_writer__keyframe(summary->file);
	ret = recording_writer__add(summary->file, RECORDED_MODEL, reading.model->now_ns, bytes,
				    length);
	return ret ? ret : recording_writer__end_chunk(summary->file);
}

/* A reading that is lost is counted; a file that takes no more ends the recording. */
static void record(struct record_summary *summary)
{
	int ret;

	if (summary->full || summary->failure)
		return;
	ret = write_reading(summary);
	summary->readings += !ret;
	if (!ret)
		return;
	summary->lost++;
	model_writer__lost(summary->models);
	summary->full = ret == RECORDING_FULL;
	if (ret != RECORDING_FULL && ret != -ENOMEM && ret != -E2BIG)
		summary->failure = ret;
	if (summary->full || summary->failure)
		session__stop(live_model__session(summary->run->live));
}

static void take_sample(void *arg)
{
	struct record_summary *summary = arg;

	struct record_reason reason;

	/* The next one has what this one lacks. */
	if (live_run__model(summary->run)->broken_off)
		return;
	record(summary);
	if (summary->flight &&
	    record_watch__look(summary->watch, live_run__model(summary->run), &reason))
		flight_recorder__trigger(summary->flight, reason.text);
}

/* Before a file of a flight recorder: it ends with the present reading. */
static void flush(void *arg)
{
	struct record_summary *summary = arg;

	if (!live_model__update(summary->run->live, true))
		record(summary);
}

/* --- setting up --- */

static int open_one(struct record_summary *summary, const struct recording_header *header,
		    struct error *err)
{
	const struct record_command *options = summary->options;
	const struct recording_options file = {.max_bytes = options->choice.max_bytes};
	int fd = output_file__open(options->trace.file, err), ret;

	if (fd < 0)
		return fd;
	ret = recording_writer__new(fd, header, &file, &summary->file, NULL);
	return ret ? error__set(err, ret, "cannot write %s: %s", options->trace.file,
				strerror(-ret)) :
		     0;
}

/* A file of a flight recorder begins with a keyframe: there must be some in its time. */
static unsigned int readings_of_keyframe(const struct record_summary *summary)
{
	double readings = (double)flight_recorder__keyframe_ns(summary->flight) / (double)NS_PER_S /
			  summary->options->interval;

	return readings < 1 ? 1 : readings > UINT_MAX ? UINT_MAX : (unsigned int)readings;
}

static int open_flight(struct record_summary *summary, const struct recording_header *header,
		       struct error *err)
{
	const struct record_command *options = summary->options;
	const struct flight_options flight = {
		.name = options->trace.file,
		.files = options->choice.ring_files,
		.keep_ns = options->choice.ring_ns,
		.max_bytes = options->choice.max_bytes,
		.quiet = options->trace.quiet,
	};
	int ret = flight_recorder__new(&flight, summary->log, &summary->flight, err);

	if (!ret)
		ret = flight_recorder__writer(summary->flight, header, &summary->file, err);
	summary->watch = ret ? NULL : record_watch__new(SUMMARY_NEEDS);
	if (!ret && (!summary->watch ||
		     flight_recorder__start(summary->flight,
					    session__loop(live_model__session(summary->run->live)),
					    flush, summary)))
		ret = error__set(err, -ENOMEM, "out of memory");
	return ret;
}

static int open_file(struct record_summary *summary, struct error *err)
{
	const struct record_command *options = summary->options;
	bool anonymize = options->choice.anonymize;
	struct recording_header header = {.level = RECORDING_SUMMARY,
					  .flags = anonymize ? RECORDING_ANONYMOUS : 0};
	int ret;

	recording_header__fill(&header);
	header.begin_ns = clock__boot_ns();
	if (!anonymize)
		memcpy(header.options, options->choice.words,
		       strnlen(options->choice.words, sizeof(header.options) - 1));
	ret = options->choice.ring_ns ? open_flight(summary, &header, err) :
					open_one(summary, &header, err);
	if (ret)
		return ret;
	ret = model_writer__new(&summary->models);
	if (!ret && anonymize)
		ret = model_writer__hide_names(summary->models);
	if (!ret && summary->flight)
		model_writer__set_keyframes(summary->models, readings_of_keyframe(summary));
	return ret ? error__set(err, ret, "out of memory") : 0;
}

static struct live_model_options model_options(const struct record_command *options)
{
	const struct trace_options *trace = &options->trace;
	struct live_model_options model =
		live_run__for_days(&trace->targets, trace->duration, options->max_overhead,
				   options->overhead_by_default);

	model.needs = SUMMARY_NEEDS;
	model.nccl_keeps_past = true;
	model.nccl_rarely = true;
	model.steps = STEP_RECORDS;
	model.host_rate = HOST_RATE;
	model.oom_reports = true;
	model.tensor_python = true;
	model.top = SUMMARY_TOP;
	model.stacks = trace->stacks;
	model.stack_sites = (1u << SITE_KINDS) - 1;
	if (options->tensors)
		model.limits.max_tensors = model.limits.max_allocations;
	return model;
}

/* The program runs without GPU times rather than not at all. */
static bool begin_gpu_times(const struct record_summary *summary)
{
	struct error err;

	if (!summary->options->trace.gpu_times)
		return false;
	if (!gpu_times_watch__set_variables(0, false, &err))
		return true;
	log__warn(summary->log, "%s", err.text);
	return false;
}

static int set_up(struct record_summary *summary, struct error *err)
{
	struct live_run_options live = {
		.announces = true,
		.live = model_options(summary->options),
		.samples =
			{
				.period = summary->options->interval,
				.with_lists = true,
				.take = take_sample,
				.arg = summary,
			},
	};
	int ret;

	live.live.gpu_times = begin_gpu_times(summary);
	ret = live_run__new(&live, summary->log, &summary->run, err);
	if (!ret)
		ret = open_file(summary, err);
	if (!ret)
		ret = live_run__attach(summary->run, err);
	summary->began_ns = clock__boot_ns();
	if (!ret && summary->watch)
		record_watch__begin(summary->watch, summary->began_ns);
	return ret;
}

/* --- the end --- */

static void say_what(const struct record_summary *summary)
{
	const struct trace_options *options = &summary->options->trace;

	if (summary->full)
		log__warn(summary->log,
			  "the recording is full (--max-size): it ends before the run does");
	else if (summary->lost)
		log__warn(summary->log, "%" PRIu64 " reading%s could not be recorded",
			  summary->lost, summary->lost == 1 ? "" : "s");
	if (!options->quiet && !summary->flight)
		fprintf(stderr, "gpuprobe: recorded %" PRIu64 " reading%s, %s\n", summary->readings,
			summary->readings == 1 ? "" : "s",
			quantity__bytes(recording_writer__size(summary->file)).text);
}

static int finish(struct record_summary *summary, struct error *err)
{
	const char *file = summary->options->trace.file;
	int ret;

	live_model__finish(summary->run->live);
	record(summary);
	if (summary->flight) {
		say_what(summary);
		return flight_recorder__finish(summary->flight, err);
	}
	ret = recording_writer__close(summary->file, NULL);
	if (!ret)
		ret = summary->failure;
	say_what(summary);
	return ret ? error__set(err, ret, "cannot write %s: %s", file, strerror(-ret)) : 0;
}

int record_summary__run(const struct record_command *options, int *status, struct error *err)
{
	const struct log log = subcommand__set_log(options->trace.log_level);
	struct record_summary summary = {.options = options, .log = &log};
	int ret = set_up(&summary, err);

	if (!ret)
		ret = live_run__until_end(summary.run, err);
	if (!ret)
		ret = finish(&summary, err);
	if (!ret)
		*status = live_run__status(summary.run);
	recording_writer__free(summary.file);
	record_watch__free(summary.watch);
	flight_recorder__free(summary.flight);
	live_run__free(summary.run);
	model_writer__free(summary.models);
	return ret;
}
