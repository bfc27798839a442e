// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe record --level summary`, see record_summary.h.
#include "cli/commands/record_summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "cli/commands/subcommand.h"
#include "cli/files/output_file.h"
#include "cli/session/live_run.h"
#include "gpuprobe/steps.h"
#include "host/watch.h"
#include "record/model_codec.h"
#include "record/writer.h"

#define SUMMARY_TOP 20 /* live allocations of a process */

struct record_summary {
	const struct record_command *options;
	const struct log *log;
	struct live_run *run;
	struct recording_writer *file;
	struct model_writer *models;
	uint64_t began_ns; /* when the probes were attached */
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
		.needs = NEEDS_PROFILE | NEEDS_ASKS,
	};
	bool keyframe = model_writer__is_keyframe(summary->models);
	const uint8_t *bytes;
	size_t length;
	int ret = model_writer__write(summary->models, &reading, &bytes, &length);

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
	int ret = summary->full || summary->failure ? 0 : write_reading(summary);

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

	/* The next one has what this one lacks. */
	if (!live_run__model(summary->run)->broken_off)
		record(summary);
}

/* --- setting up --- */

static int open_file(struct record_summary *summary, struct error *err)
{
	const struct record_command *options = summary->options;
	const struct recording_options file = {.max_bytes = options->choice.max_bytes};
	struct recording_header header = {.level = RECORDING_SUMMARY};
	int fd = output_file__open(options->trace.file, err), ret;

	if (fd < 0)
		return fd;
	recording_header__fill(&header);
	header.begin_ns = clock__boot_ns();
	memcpy(header.options, options->choice.words,
	       strnlen(options->choice.words, sizeof(header.options) - 1));
	ret = recording_writer__new(fd, &header, &file, &summary->file, NULL);
	if (ret)
		return error__set(err, ret, "cannot write %s: %s", options->trace.file,
				  strerror(-ret));
	ret = model_writer__new(&summary->models);
	return ret ? error__set(err, ret, "out of memory") : 0;
}

static int set_up(struct record_summary *summary, struct error *err)
{
	const struct trace_options *options = &summary->options->trace;
	struct live_run_options live = {
		.announces = true,
		.live =
			{
				.targets = &options->targets,
				.duration = options->duration,
				.sections = SECTION_ALL,
				.api = API_AUTO,
				.needs = NEEDS_PROFILE | NEEDS_ASKS,
				.steps = STEP_RECORDS,
				.host_rate = HOST_RATE,
				.max_overhead = summary->options->max_overhead,
				.overhead_by_default = summary->options->overhead_by_default,
				.sample_launches_alone = true,
				.limits = LIVE_MODEL_LIMITS,
				.oom_reports = true,
				.tensor_python = true,
				.top = SUMMARY_TOP,
				.stacks = options->stacks,
				.stack_sites = (1u << SITE_KINDS) - 1,
			},
		.samples =
			{
				.period = summary->options->interval,
				.with_lists = true,
				.take = take_sample,
				.arg = summary,
			},
	};
	int ret;

	if (summary->options->tensors)
		live.live.limits.max_tensors = live.live.limits.max_allocations;
	ret = live_run__new(&live, summary->log, &summary->run, err);
	if (!ret)
		ret = open_file(summary, err);
	if (!ret)
		ret = live_run__attach(summary->run, err);
	summary->began_ns = clock__boot_ns();
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
	if (!options->quiet)
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
	live_run__free(summary.run);
	recording_writer__free(summary.file);
	model_writer__free(summary.models);
	return ret;
}
