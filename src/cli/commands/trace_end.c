// SPDX-License-Identifier: BSD-2-Clause
// The messages at the end of a trace, see trace_end.h.
#include "cli/commands/trace_end.h"

#include <stdio.h>

#include "base/quantity.h"
#include "cli/commands/trace_recorder.h"

/* Whether only some processes are shown. */
static bool is_of_some(const struct trace_options *options)
{
	return process_filter__is_set(&options->targets.filter);
}

/* Whether a process may have made calls that have no line. */
static bool is_filtered(const struct trace_options *options)
{
	return is_of_some(options) || options->config.failed || options->config.min_duration_ns ||
	       options->count;
}

/* The reasons for losses, "; 3 had no room in the ring: see --buffer". */
static void report_losses(const struct trace_counts *counts, char *text, size_t size)
{
	static const char *const reasons[TRACE_LOSSES] = {
		[TRACE_LOST_RING] = "had no room in the ring (see --buffer)",
		[TRACE_LOST_THREAD] = "were by threads beyond the limit of followed threads",
		[TRACE_LOST_DEPTH] = "were nested too deep",
		[TRACE_LOST_RETURN] = "are shown without their return",
		[TRACE_LOST_STACK] = "stacks had no room in their ring",
		[TRACE_LOST_STACK_MEMORY] = "stacks could not be taken",
		[TRACE_LOST_RANGE] = "lines of NVTX ranges had no room",
	};
	size_t length = 0;

	*text = '\0';
	for (int i = 0; i < TRACE_LOSSES && length < size; i++)
		if (counts->losses[i])
			length += (size_t)snprintf(
				text + length, size - length, "%s%llu %s", length ? ", " : ": ",
				(unsigned long long)counts->losses[i], reasons[i]);
}

/* Warns of lines without their stacks, which were evicted by then or lost. */
static void warn_stacks(const struct trace_end *end)
{
	const struct trace_counts *counts = &end->counts;

	if (!counts->unknown_stacks)
		return;
	log__warn(end->log, "the stacks of %llu calls are missing%s",
		  (unsigned long long)counts->unknown_stacks,
		  counts->evicted ?
			  ": some were replaced by newer ones (see --stack-storage-size)" :
			  "");
}

static void warn_readings(const struct trace_end *end)
{
	const struct trace_recorder *recorder = trace_sink__recorder(end->sink);
	unsigned long long lost = recorder ? trace_recorder__lost_readings(recorder) : 0;

	if (lost)
		log__warn(end->log, "%llu reading%s could not be recorded", lost,
			  lost == 1 ? "" : "s");
}

/*
 * Warns of target processes that made no call: without that they would look like unwatched ones.
 * Skipped if calls were lost or filtered out, because these may have been theirs.
 */
static void warn_silence(const struct trace_end *end)
{
	char text[SILENT_TEXT_SIZE];

	if (end->missing.calls || end->failed || is_filtered(end->options) ||
	    trace_sink__is_closed(end->sink))
		return;
	if (silent_targets__write(end->targets, text))
		log__warn(end->log, "%s", text);
}

void trace_end__warn(const struct trace_end *end, const struct attach_gaps *gaps)
{
	if (!is_of_some(end->options))
		attach_gaps__report_rest(gaps);
	if (end->counts.malformed)
		log__warn(end->log, "dropped %llu malformed records",
			  (unsigned long long)end->counts.malformed);
	warn_stacks(end);
	warn_readings(end);
	warn_silence(end);
}

/* A COMMAND that was expected to use CUDA. For processes of -p a warning says it, or why not. */
static bool made_no_call(const struct trace_end *end, unsigned long long calls)
{
	return end->options->targets.command && !calls && !end->counts.lost && !end->failed &&
	       !trace_sink__dropped(end->sink) && !is_filtered(end->options) &&
	       !trace_sink__is_closed(end->sink);
}

static const char *verb_of(const struct trace_options *options)
{
	if (options->record)
		return options->record->ring_ns ? "watched" : "recorded";
	return options->lines ? "written" : "summed up";
}

static void report_readings(const struct trace_end *end)
{
	const struct trace_recorder *recorder = trace_sink__recorder(end->sink);
	unsigned long long readings = recorder ? trace_recorder__readings(recorder) : 0;

	if (readings)
		fprintf(stderr, " and %llu reading%s", readings, readings == 1 ? "" : "s");
}

void trace_end__report(const struct trace_end *end)
{
	unsigned long long calls = trace_sink__calls(end->sink), files = end->missing.libraries;
	uint64_t recorded = trace_sink__recorded_bytes(end->sink);
	char losses[512];
	uint64_t dropped = trace_sink__dropped(end->sink);

	report_losses(&end->counts, losses, sizeof(losses));
	if (!*losses && !files && !dropped && !trace_gpu__lost(end->gpu) &&
	    (end->options->quiet || trace_sink__is_closed(end->sink)))
		return;
	fprintf(stderr, "gpuprobe: %s %llu call%s", verb_of(end->options), calls,
		calls == 1 ? "" : "s");
	report_readings(end);
	if (end->options->record && !end->options->record->ring_ns)
		fprintf(stderr, " in %s", quantity__bytes((double)recorded).text);
	fprintf(stderr, ", lost %llu%s", (unsigned long long)end->counts.lost, losses);
	if (trace_sink__is_full(end->sink))
		fprintf(stderr, "; recording ended because the file was full (see --max-size)");
	else if (dropped)
		fprintf(stderr, "; %llu more could not be written", (unsigned long long)dropped);
	if (end->counts.unfollowed)
		fprintf(stderr, "; the return of %llu was not followed",
			(unsigned long long)end->counts.unfollowed);
	if (end->missing.before)
		fprintf(stderr, "; %llu call%s had begun before attach",
			(unsigned long long)end->missing.before,
			end->missing.before == 1 ? "" : "s");
	if (end->gpu)
		trace_gpu__report(end->gpu);
	if (made_no_call(end, calls))
		fputs("; no selected CUDA call was seen", stderr);
	if (files)
		fprintf(stderr, "; %llu file%s that may be CUDA libraries got no probes", files,
			files == 1 ? "" : "s");
	fputc('\n', stderr);
}
