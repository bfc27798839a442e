// SPDX-License-Identifier: BSD-2-Clause
// The recording of a trace, see trace_recorder.h.
#include "cli/commands/trace_recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/text_stream.h"
#include "cli/commands/reading_recorder.h"
#include "cli/session/flight_recorder.h"
#include "record/call_writer.h"
#include "trace/function.h"

_Static_assert(TRACE_LOST_RANGE == sizeof(((struct recorded_calls_end *)0)->losses) /
					   sizeof(uint64_t) &&
		       TRACE_LOSSES == TRACE_LOST_RANGE + 1,
	       "the file has every reason for losses");

#define OUT_OF_MEMORY 2 /* cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY */

struct trace_recorder {
	struct recording_writer *file;
	struct flight_recorder *flight; /* NULL: all goes to one file */
	struct call_writer *calls;
	struct pseudonyms *pseudonyms;	   /* NULL: names are themselves */
	struct reading_recorder *readings; /* NULL: calls alone */
	struct reading_source source;	   /* with readings */
	const struct model *latest;	   /* reading; NULL: none so far */
	int failure;			   /* of readings */
};

static void fill_header(const struct trace_options *options, uint64_t begin_ns,
			struct recording_header *header)
{
	*header = (struct recording_header){
		.level = RECORDING_CALLS,
		.flags = (options->record->anonymize ? RECORDING_ANONYMOUS : 0) |
			 (options->stacks.mode != STACK_OFF ? RECORDING_STACKS : 0) |
			 (options->config.nested ? RECORDING_NESTED : 0) |
			 (options->record->readings.beside ? RECORDING_READINGS : 0) |
			 (options->gpu_times ? RECORDING_GPU_WORK : 0),
	};
	recording_header__fill(header);
	header->begin_ns = begin_ns;
	if (!options->record->anonymize)
		memcpy(header->options, options->record->words,
		       strnlen(options->record->words, sizeof(header->options) - 1));
}

static int open_one(struct trace_recorder *recorder, int fd, const struct trace_options *options,
		    const struct recording_header *header, struct error *err)
{
	const struct recording_options file = {.max_bytes = options->record->max_bytes};
	int ret = recording_writer__new(fd, header, &file, &recorder->file, NULL);

	return ret ? error__set(err, ret, "cannot write %s: %s", options->file, strerror(-ret)) : 0;
}

static int open_flight(struct trace_recorder *recorder, const struct trace_options *options,
		       const struct recording_header *header, const struct log *log,
		       struct error *err)
{
	const struct flight_options flight = {
		.name = options->file,
		.files = options->record->ring_files,
		.keep_ns = options->record->ring_ns,
		.max_bytes = options->record->max_bytes,
		.quiet = options->quiet,
	};
	int ret = flight_recorder__new(&flight, log, &recorder->flight, err);

	return ret ? ret : flight_recorder__writer(recorder->flight, header, &recorder->file, err);
}

static int open_calls(struct trace_recorder *recorder)
{
	recorder->calls = call_writer__new(recorder->file, recorder->pseudonyms);
	if (!recorder->calls)
		return -ENOMEM;
	if (recorder->flight)
		call_writer__set_keyframes(recorder->calls,
					   flight_recorder__keyframe_ns(recorder->flight),
					   flight_recorder__keyframe_bytes(recorder->flight));
	return 0;
}

static int open_readings(struct trace_recorder *recorder, const struct reading_choice *choice)
{
	const struct reading_recorder_options readings = {
		.choice = choice,
		.file = recorder->file,
		.flight = recorder->flight,
		.pseudonyms = recorder->pseudonyms,
	};

	return choice->beside ? reading_recorder__new(&readings, &recorder->readings) : 0;
}

/* Calls and readings have the same pseudonyms. */
static int open_writers(struct trace_recorder *recorder, const struct record_choice *choice)
{
	int ret;

	if (choice->anonymize)
		recorder->pseudonyms = pseudonyms__new();
	if (choice->anonymize && !recorder->pseudonyms)
		return -ENOMEM;
	ret = open_calls(recorder);
	return ret ? ret : open_readings(recorder, &choice->readings);
}

int trace_recorder__new(int fd, const struct trace_options *options, uint64_t begin_ns,
			const struct log *log, struct trace_recorder **out, struct error *err)
{
	struct trace_recorder *recorder = calloc(1, sizeof(*recorder));
	struct recording_header header;
	int ret;

	if (!recorder) {
		if (fd >= 0)
			close(fd);
		return error__set(err, -ENOMEM, "out of memory");
	}
	fill_header(options, begin_ns, &header);
	ret = options->record->ring_ns ? open_flight(recorder, options, &header, log, err) :
					 open_one(recorder, fd, options, &header, err);
	if (!ret && open_writers(recorder, options->record))
		ret = error__set(err, -ENOMEM, "out of memory");
	if (ret) {
		trace_recorder__free(recorder);
		return ret;
	}
	*out = recorder;
	return 0;
}

static void take_reading(struct trace_recorder *recorder)
{
	if (recorder->source.take)
		recorder->source.take(recorder->source.arg);
}

/* Before a file of a flight recorder. A failure shows at the next line. */
static void flush(void *arg)
{
	struct trace_recorder *recorder = arg;

	take_reading(recorder);
	call_writer__flush(recorder->calls, UINT64_MAX);
}

int trace_recorder__start(struct trace_recorder *recorder, struct event_base *loop)
{
	return recorder->flight ? flight_recorder__start(recorder->flight, loop, flush, recorder) :
				  0;
}

void trace_recorder__free(struct trace_recorder *recorder)
{
	if (!recorder)
		return;
	call_writer__free(recorder->calls);
	reading_recorder__free(recorder->readings);
	pseudonyms__free(recorder->pseudonyms);
	recording_writer__free(recorder->file);
	flight_recorder__free(recorder->flight);
	free(recorder);
}

/* The name is the process's. Without memory there is no file, only a later one. */
static void note_failure(struct trace_recorder *recorder, const struct trace_line *line)
{
	char *reason = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&reason, &length);

	if (!out)
		return;
	fprintf(out, "out of memory, process %d (", line->process->pid);
	escape__text(out, line->process->comm);
	fprintf(out, "), %s", trace_function__symbol(line->function));
	if (!fclose(out))
		trace_recorder__trigger(recorder, reason);
	free(reason);
}

void trace_recorder__trigger(struct trace_recorder *recorder, const char *reason)
{
	call_writer__flush(recorder->calls, UINT64_MAX);
	flight_recorder__trigger(recorder->flight, reason);
}

/* --- readings beside calls --- */

void trace_recorder__begin(struct trace_recorder *recorder, const struct reading_source *source,
			   uint64_t began_ns)
{
	recorder->source = *source;
	reading_recorder__begin(recorder->readings, began_ns);
}

/* A keyframe is one of calls as well, and begins with the reading. */
static int write_reading(struct trace_recorder *recorder, uint64_t time_ns)
{
	struct reading_recorder *readings = recorder->readings;
	int ret;

	if (call_writer__wants_keyframe(recorder->calls))
		reading_recorder__want_keyframe(readings);
	ret = reading_recorder__is_keyframe(readings) ?
		      call_writer__keyframe(recorder->calls) :
		      call_writer__flush(recorder->calls, UINT64_MAX);
	return ret ? ret : reading_recorder__write(readings, recorder->latest, time_ns);
}

/* Without its keyframe a ring takes no calls either. */
static bool is_lost_alone(const struct trace_recorder *recorder, int ret)
{
	return (ret == -ENOMEM || ret == -E2BIG) && !recorder->flight;
}

int trace_recorder__reading(struct trace_recorder *recorder, const struct model *model)
{
	int ret;

	if (recorder->failure)
		return recorder->failure;
	recorder->latest = model;
	ret = write_reading(recorder, model->now_ns);
	if (ret && !is_lost_alone(recorder, ret))
		recorder->failure = ret;
	return recorder->failure;
}

/*
 * Keyframes are readings. The first one comes before the first line. A ring needs one after so many
 * bytes, and the latest reading serves: no line so far is later than this one.
 */
static void make_keyframe(struct trace_recorder *recorder, const struct trace_line *line)
{
	const struct model *latest = recorder->latest;

	if (recorder->failure)
		return;
	if (!latest)
		take_reading(recorder);
	else if (recorder->flight && call_writer__wants_keyframe(recorder->calls))
		recorder->failure =
			write_reading(recorder, line->start_ns > latest->now_ns ? line->start_ns :
										  latest->now_ns);
}

uint64_t trace_recorder__readings(const struct trace_recorder *recorder)
{
	return recorder->readings ? reading_recorder__written(recorder->readings) : 0;
}

uint64_t trace_recorder__lost_readings(const struct trace_recorder *recorder)
{
	return recorder->readings ? reading_recorder__lost(recorder->readings) : 0;
}

/* --- lines --- */

/* With readings there is a report of the allocations that fail for good, which is better. */
static bool has_run_out(const struct trace_recorder *recorder, const struct trace_line *line)
{
	return recorder->flight && !recorder->readings && line->kind != LINE_LOST && line->failed &&
	       line->result == OUT_OF_MEMORY;
}

int trace_recorder__line(struct trace_recorder *recorder, const struct trace_line *line)
{
	int ret;

	if (recorder->readings)
		make_keyframe(recorder, line);
	ret = call_writer__line(recorder->calls, line);
	if (!ret)
		ret = recorder->failure;
	if (!ret && has_run_out(recorder, line))
		note_failure(recorder, line);
	return ret;
}

int trace_recorder__flush(struct trace_recorder *recorder)
{
	int ret = call_writer__flush(recorder->calls, clock__boot_ns());

	return ret ? ret : recorder->failure;
}

int trace_recorder__finish(struct trace_recorder *recorder, const struct trace_missing *missing,
			   const struct trace_counts *counts)
{
	int ret = call_writer__flush(recorder->calls, UINT64_MAX);
	struct recorded_calls_end end = {
		.calls = counts->calls,
		.lost = counts->lost,
		.unfinished = counts->unfinished,
		.unfollowed = counts->unfollowed,
		.malformed = counts->malformed,
		.evicted = counts->evicted,
		.unknown_stacks = counts->unknown_stacks,
		.skipped_libraries = missing->libraries,
		.before = missing->before,
		.dropped = call_writer__dropped(recorder->calls),
		.gpu_work_lost = missing->gpu_work + call_writer__dropped_gpu_work(recorder->calls),
		.lost_ranges = counts->losses[TRACE_LOST_RANGE],
	};

	memcpy(end.losses, counts->losses, sizeof(end.losses));
	if (!ret || ret == RECORDING_FULL)
		call_writer__end(recorder->calls, clock__boot_ns(), &end);
	if (recorder->flight)
		return flight_recorder__finish(recorder->flight, NULL);
	return recording_writer__close(recorder->file, NULL);
}

uint64_t trace_recorder__dropped(const struct trace_recorder *recorder)
{
	return call_writer__dropped(recorder->calls);
}

bool trace_recorder__is_full(const struct trace_recorder *recorder)
{
	return recorder->failure == RECORDING_FULL;
}

uint64_t trace_recorder__bytes(const struct trace_recorder *recorder)
{
	return recording_writer__size(recorder->file);
}
