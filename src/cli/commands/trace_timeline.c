// SPDX-License-Identifier: BSD-2-Clause
// The timeline of a trace, see trace_timeline.h.
#include "cli/commands/trace_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "output/timeline/live_bytes.h"
#include "trace/selection.h"

/*
 * Bytes before compression that browsers still open: Perfetto's page has about 2 GB of memory and
 * needs two to four times the size of a file; JSON is read as a whole.
 */
#define PERFETTO_LARGE (300ull << 20)
#define JSON_LARGE (100ull << 20)

static bool ends_in(const char *text, const char *ending)
{
	size_t length = strlen(text), end = strlen(ending);

	return length >= end && !strcmp(text + length - end, ending);
}

enum part {
	SELECTS_NONE,
	SELECTS_SOME,
	SELECTS_ALL,
};

/*
 * How much of the functions of an operation is selected: all of one layer are all, if those of the
 * other are all or none, because these call those.
 */
static enum part selected_part(const struct trace_options *options,
			       bool (*is_one)(const struct api_function *row))
{
	bool any[LAYER_COUNT] = {false}, all[LAYER_COUNT] = {true, true};

	if (!options->chooses_functions)
		return SELECTS_ALL;
	for (size_t i = 0; i < api_function_count; i++) {
		const struct api_function *row = &api_functions[i];
		bool wanted = is_one(row) && trace_selection__wants(options->selection, row);

		any[row->desc.layer] |= wanted;
		all[row->desc.layer] &= wanted || !is_one(row);
	}
	if (!any[0] && !any[1])
		return SELECTS_NONE;
	return (all[0] || !any[0]) && (all[1] || !any[1]) ? SELECTS_ALL : SELECTS_SOME;
}

static bool is_wait(const struct api_function *row)
{
	return row->desc.operation == OP_WAIT;
}

static bool is_event_record(const struct api_function *row)
{
	return row->desc.operation == OP_EVENT_RECORD;
}

static bool is_launch(const struct api_function *row)
{
	return row->desc.operation == OP_LAUNCH || row->desc.operation == OP_GRAPH_LAUNCH;
}

static bool is_memory(const struct api_function *row)
{
	return live_bytes__concerns(row) && row->desc.operation != OP_CONTEXT;
}

static bool has_all(const struct trace_options *options)
{
	return !options->config.failed && !options->config.min_duration_ns;
}

int trace_timeline__new(int fd, const struct trace_options *options,
			const struct trace_origin *origin, struct timeline **out, struct error *err)
{
	bool complete = has_all(options) && !origin->lacks_calls;
	const struct timeline_options form = {
		.format = options->timeline,
		.begin_ns = origin->begin_ns,
		.wall_offset_ns = origin->wall_offset_ns,
		.host = origin->host,
		.kernel = origin->kernel,
		/* Programs that read JSON decide by the name whether it is compressed. */
		.plain = options->file && ends_in(options->file, ".json"),
		.has_gpu_work = options->gpu_times || origin->has_gpu_work,
		.counts_memory = complete && selected_part(options, is_memory) == SELECTS_ALL,
		/* Without an event's latest record, a wait for it would cover other work. */
		.draws_arrows = complete && selected_part(options, is_wait) == SELECTS_ALL &&
				selected_part(options, is_event_record) != SELECTS_SOME,
		.finds_steps = complete && selected_part(options, is_launch) == SELECTS_ALL,
	};

	return timeline__new(fd, &form, out, err);
}

/* --- the report --- */

static void report_kineto(const struct timeline_counts *counts, const char *file,
			  const struct log *log)
{
	if (!ends_in(file, ".json") && !ends_in(file, ".json.gz"))
		log__warn(log, "HTA reads files whose names end in .json or .json.gz");
	if (counts->processes > 1)
		log__warn(log,
			  "%s has %" PRIu64 " processes, which HTA takes for one rank: choose one "
			  "with -p PID",
			  file, counts->processes);
	if (!counts->gpu_work)
		log__warn(log,
			  "%s has the calls of the host and no GPU times (record them by "
			  "--gpu-times): HTA's breakdowns, idle time, "
			  "overlap, kernel and queue length analyses stay empty",
			  file);
}

static void warn_size(const struct trace_options *options, const struct timeline_counts *counts,
		      const char *file, const struct log *log)
{
	bool is_json = options->timeline != TIMELINE_PERFETTO;

	if (counts->raw_bytes <= (is_json ? JSON_LARGE : PERFETTO_LARGE))
		return;
	log__warn(log, "%s is %s unpacked, and browsers open about %s: write a part of it (%s)%s",
		  file, quantity__bytes((double)counts->raw_bytes).text,
		  quantity__bytes((double)(is_json ? JSON_LARGE : PERFETTO_LARGE)).text,
		  options->input.path ? "--from" : "--duration, -e",
		  is_json ? ", or the form perfetto, which is smaller" : "");
}

void trace_timeline__report(const struct trace_options *options,
			    const struct timeline_counts *counts, const struct log *log)
{
	const char *file = options->file ? options->file : "the timeline";

	warn_size(options, counts, file, log);
	if (counts->gpu_left_out)
		log__warn(log,
			  "%s lacks %" PRIu64 " pieces of GPU work, for which there was no room",
			  file, counts->gpu_left_out);
	if (counts->lacks_arrows || counts->lacks_memory)
		log__warn(log,
			  "no %s in %s: calls are left out (-e, --failed, "
			  "--min-duration)",
			  !counts->lacks_memory ? "arrows" :
			  !counts->lacks_arrows ? "live memory" :
						  "arrows and no live memory",
			  file);
	if (options->timeline == TIMELINE_KINETO)
		report_kineto(counts, file, log);
	else if (!options->quiet && options->file)
		fprintf(stderr, "gpuprobe: open %s at https://ui.perfetto.dev\n", file);
}
