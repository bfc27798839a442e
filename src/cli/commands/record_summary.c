// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe record --level summary`, see record_summary.h.
#include "cli/commands/record_summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "cli/commands/reading_recorder.h"
#include "cli/commands/record_watch.h"
#include "cli/commands/subcommand.h"
#include "cli/files/output_file.h"
#include "cli/session/flight_recorder.h"
#include "cli/session/gpu_times_watch.h"
#include "cli/session/live_run.h"
#include "record/writer.h"

struct record_summary {
	const struct record_command *options;
	const struct log *log;
	struct live_run *run;
	struct recording_writer *file;
	struct pseudonyms *pseudonyms; /* NULL: names are themselves */
	struct reading_recorder *readings;
	struct flight_recorder *flight; /* NULL: all goes to one file */
	struct record_watch *watch;	/* with it */
	bool full;			/* --max-size is reached */
	int failure;			/* of writing */
};

/* --- readings --- */

/* A reading that is lost is counted; a file that takes no more ends the recording. */
static void record(struct record_summary *summary)
{
	const struct model *model = live_run__model(summary->run);
	int ret;

	if (summary->full || summary->failure)
		return;
	ret = reading_recorder__write(summary->readings, model, model->now_ns);
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
	summary->watch =
		ret ? NULL : record_watch__new(reading_recorder__needs(&options->choice.readings));
	if (!ret && (!summary->watch ||
		     flight_recorder__start(summary->flight,
					    session__loop(live_model__session(summary->run->live)),
					    flush, summary)))
		ret = error__set(err, -ENOMEM, "out of memory");
	return ret;
}

static int open_readings(struct record_summary *summary)
{
	const struct record_choice *choice = &summary->options->choice;
	struct reading_recorder_options readings = {
		.choice = &choice->readings,
		.file = summary->file,
		.flight = summary->flight,
	};

	if (choice->anonymize) {
		summary->pseudonyms = pseudonyms__new();
		if (!summary->pseudonyms)
			return -ENOMEM;
		readings.pseudonyms = summary->pseudonyms;
	}
	return reading_recorder__new(&readings, &summary->readings);
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
	ret = open_readings(summary);
	return ret ? error__set(err, ret, "out of memory") : 0;
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
	const struct record_command *options = summary->options;
	struct live_run_options live = {
		.announces = true,
		.live = reading_recorder__live(&options->choice.readings, &options->trace.targets,
					       options->trace.duration),
		.samples =
			{
				.period = options->choice.readings.interval,
				.with_lists = true,
				.take = take_sample,
				.arg = summary,
			},
	};
	uint64_t began_ns;
	int ret;

	live.live.gpu_times = begin_gpu_times(summary);
	ret = live_run__new(&live, summary->log, &summary->run, err);
	if (!ret)
		ret = open_file(summary, err);
	if (!ret)
		ret = live_run__attach(summary->run, err);
	if (ret)
		return ret;
	began_ns = clock__boot_ns();
	reading_recorder__begin(summary->readings, began_ns);
	if (summary->watch)
		record_watch__begin(summary->watch, began_ns);
	return 0;
}

/* --- the end --- */

static void say_what(const struct record_summary *summary)
{
	const struct trace_options *options = &summary->options->trace;
	uint64_t written = reading_recorder__written(summary->readings),
		 lost = reading_recorder__lost(summary->readings);

	if (summary->full)
		log__warn(summary->log,
			  "the recording is full (--max-size): it ends before the run does");
	else if (lost)
		log__warn(summary->log, "%" PRIu64 " reading%s could not be recorded", lost,
			  lost == 1 ? "" : "s");
	if (!options->quiet && !summary->flight)
		fprintf(stderr, "gpuprobe: recorded %" PRIu64 " reading%s, %s\n", written,
			written == 1 ? "" : "s",
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
	reading_recorder__free(summary.readings);
	recording_writer__free(summary.file);
	record_watch__free(summary.watch);
	flight_recorder__free(summary.flight);
	live_run__free(summary.run);
	pseudonyms__free(summary.pseudonyms);
	return ret;
}
