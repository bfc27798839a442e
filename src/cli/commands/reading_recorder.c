// SPDX-License-Identifier: BSD-2-Clause
// Readings of a live model in a recording, see reading_recorder.h.
#include "cli/commands/reading_recorder.h"

#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/session/live_run.h"
#include "gpuprobe/steps.h"
#include "host/watch.h"
#include "record/model_codec.h"

#define TOP 20 /* live allocations of a process */
#define NEEDS (NEEDS_PROFILE | NEEDS_ASKS | NEEDS_NCCL)

struct reading_recorder {
	struct reading_recorder_options options;
	struct model_writer *models;
	uint64_t began_ns; /* when the probes were attached */
	uint64_t written, lost;
};

unsigned int reading_recorder__needs(const struct reading_choice *choice)
{
	return NEEDS | (choice->tensors ? NEEDS_TENSORS : 0);
}

struct live_model_options reading_recorder__live(const struct reading_choice *choice,
						 const struct targets *targets, double duration)
{
	struct live_model_options model = live_run__for_days(
		targets, duration, choice->max_overhead, choice->overhead_by_default);

	model.needs = NEEDS;
	model.nccl_keeps_past = true;
	model.nccl_rarely = true;
	model.steps = STEP_RECORDS;
	model.host_rate = HOST_RATE;
	model.oom_reports = true;
	model.tensor_python = true;
	model.top = TOP;
	model.stacks = choice->stacks;
	model.stack_sites = (1u << SITE_KINDS) - 1;
	if (choice->tensors)
		model.limits.max_tensors = model.limits.max_allocations;
	return model;
}

/* A file of a flight recorder begins with a keyframe: there must be some in its time. */
static unsigned int readings_of_keyframe(const struct reading_recorder_options *options)
{
	double readings = (double)flight_recorder__keyframe_ns(options->flight) / (double)NS_PER_S /
			  options->choice->interval;

	return readings < 1 ? 1 : readings > UINT_MAX ? UINT_MAX : (unsigned int)readings;
}

int reading_recorder__new(const struct reading_recorder_options *options,
			  struct reading_recorder **out)
{
	struct reading_recorder *recorder = calloc(1, sizeof(*recorder));
	int ret = recorder ? model_writer__new(&recorder->models) : -ENOMEM;

	if (ret) {
		reading_recorder__free(recorder);
		return ret;
	}
	recorder->options = *options;
	if (options->pseudonyms)
		model_writer__hide_names(recorder->models, options->pseudonyms);
	if (options->flight)
		model_writer__set_keyframes(recorder->models, readings_of_keyframe(options));
	*out = recorder;
	return 0;
}

void reading_recorder__free(struct reading_recorder *recorder)
{
	if (!recorder)
		return;
	model_writer__free(recorder->models);
	free(recorder);
}

void reading_recorder__begin(struct reading_recorder *recorder, uint64_t began_ns)
{
	recorder->began_ns = began_ns;
}

void reading_recorder__want_keyframe(struct reading_recorder *recorder)
{
	model_writer__lost(recorder->models);
}

bool reading_recorder__is_keyframe(const struct reading_recorder *recorder)
{
	const struct flight_recorder *flight = recorder->options.flight;

	return model_writer__is_keyframe(recorder->models) ||
	       (flight && flight_recorder__wants_keyframe(flight));
}

static int write(struct reading_recorder *recorder, const struct model *model, uint64_t time_ns)
{
	const struct recorded_reading reading = {
		.model = model,
		.began_ns = recorder->began_ns,
		.needs = reading_recorder__needs(recorder->options.choice),
	};
	struct recording_writer *file = recorder->options.file;
	bool keyframe = reading_recorder__is_keyframe(recorder);
	const uint8_t *bytes;
	size_t length;
	int ret;

	if (keyframe)
		model_writer__lost(recorder->models);
	ret = model_writer__write(recorder->models, &reading, &bytes, &length);
	if (ret)
		return ret;
	if (keyframe)
		recording_writer__keyframe(file);
	ret = recording_writer__add(file, RECORDED_MODEL, time_ns, bytes, length);
	return ret ? ret : recording_writer__end_chunk(file);
}

int reading_recorder__write(struct reading_recorder *recorder, const struct model *model,
			    uint64_t time_ns)
{
	int ret = write(recorder, model, time_ns);

	recorder->written += !ret;
	recorder->lost += ret != 0;
	if (ret)
		model_writer__lost(recorder->models);
	return ret;
}

uint64_t reading_recorder__written(const struct reading_recorder *recorder)
{
	return recorder->written;
}

uint64_t reading_recorder__lost(const struct reading_recorder *recorder)
{
	return recorder->lost;
}
