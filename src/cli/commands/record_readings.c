// SPDX-License-Identifier: BSD-2-Clause
// Readings beside the calls of a recording, see record_readings.h.
#include "cli/commands/record_readings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/commands/reading_recorder.h"
#include "cli/commands/record_watch.h"
#include "cli/session/live_model.h"
#include "cli/session/samples.h"

struct record_readings {
	const struct trace_options *options;
	const struct log *log;
	struct live_model *live;
	struct samples *samples;
	struct trace_recorder *recorder;
	struct record_watch *watch; /* with --ring */
	bool has_first;
};

static const struct reading_choice *choice_of(const struct record_readings *readings)
{
	return &readings->options->record->readings;
}

int record_readings__new(const struct trace_options *options, const struct session_hooks *hooks,
			 bool gpu_times, const struct log *log, struct record_readings **out,
			 struct error *err)
{
	struct record_readings *readings = calloc(1, sizeof(*readings));
	struct live_model_options live = reading_recorder__live(
		&options->record->readings, &options->targets, options->duration);
	int ret;

	if (!readings)
		return error__set(err, -ENOMEM, "out of memory");
	readings->options = options;
	readings->log = log;
	live.gpu_times = gpu_times;
	live.late = hooks->late;
	live.late_arg = hooks->arg;
	live.grace_ms = hooks->grace_ms;
	ret = live_model__new(&live, log, &readings->live, err);
	if (ret) {
		record_readings__free(readings);
		return ret;
	}
	*out = readings;
	return 0;
}

void record_readings__free(struct record_readings *readings)
{
	if (!readings)
		return;
	samples__free(readings->samples);
	record_watch__free(readings->watch);
	live_model__free(readings->live);
	free(readings);
}

struct session *record_readings__session(const struct record_readings *readings)
{
	return live_model__session(readings->live);
}

/* --- readings --- */

/* The next one has what a broken one lacks, but the first one begins the recording. */
static void record(struct record_readings *readings)
{
	const struct model *model = live_model__model(readings->live);

	if (model->broken_off && readings->has_first)
		return;
	readings->has_first = true;
	if (trace_recorder__reading(readings->recorder, model))
		session__stop(live_model__session(readings->live));
}

static void take_sample(void *arg)
{
	struct record_readings *readings = arg;
	const struct model *model = live_model__model(readings->live);
	struct record_reason reason;

	record(readings);
	if (readings->watch && !model->broken_off &&
	    record_watch__look(readings->watch, model, &reason))
		trace_recorder__trigger(readings->recorder, reason.text);
}

/* See struct reading_source. */
static void take_now(void *arg)
{
	struct record_readings *readings = arg;

	live_model__update(readings->live, true);
	record(readings);
}

/* --- setting up --- */

static int make_watch(struct record_readings *readings)
{
	if (!readings->options->record->ring_ns)
		return 0;
	readings->watch = record_watch__new(reading_recorder__needs(choice_of(readings)));
	return readings->watch ? 0 : -ENOMEM;
}

int record_readings__prepare(struct record_readings *readings, struct trace_recorder *recorder,
			     struct error *err)
{
	const struct samples_options samples = {
		.period = choice_of(readings)->interval,
		.with_lists = true,
		.take = take_sample,
		.arg = readings,
	};
	int ret = live_model__prepare(readings->live, err);

	readings->recorder = recorder;
	if (!ret)
		ret = samples__new(readings->live, &samples, &readings->samples, err);
	if (!ret && make_watch(readings))
		ret = error__set(err, -ENOMEM, "out of memory");
	return ret;
}

int record_readings__attach_beside(struct record_readings *readings,
				   const struct selection *selection,
				   const struct probe_programs *programs, struct error *err)
{
	return live_model__attach_beside(readings->live, selection, programs, err);
}

int record_readings__attach(struct record_readings *readings, struct error *err)
{
	const struct reading_source source = {.take = take_now, .arg = readings};
	int ret = live_model__attach(readings->live, err);
	uint64_t began_ns = clock__boot_ns();

	if (ret)
		return ret;
	trace_recorder__begin(readings->recorder, &source, began_ns);
	if (readings->watch)
		record_watch__begin(readings->watch, began_ns);
	return 0;
}

void record_readings__finish(struct record_readings *readings)
{
	live_model__finish(readings->live);
	trace_recorder__reading(readings->recorder, live_model__model(readings->live));
}
