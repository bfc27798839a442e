// SPDX-License-Identifier: BSD-2-Clause
// `gpuprobe trace -i FILE`, see trace_recorded.h.
#include "cli/commands/trace_recorded.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/finding_marks.h"
#include "cli/commands/recorded_filter.h"
#include "cli/commands/subcommand.h"
#include "cli/commands/trace_sink.h"
#include "cli/session/damage_report.h"
#include "cli/session/privileges.h"
#include "cli/session/signals.h"
#include "record/call_reader.h"

struct replay {
	const struct trace_options *options;
	struct log log;
	struct recording *recording;
	struct trace_functions *functions;
	struct call_reader *calls;
	struct recorded_filter *filter;
	struct trace_sink *sink;
	struct finding_marks *findings; /* NULL: none are wanted */
	uint64_t gpu_work;		/* lines of it that were shown */
	uint64_t first_ns;		/* of the lines that were shown; 0: none */
	struct trace_counts counts;	/* of the lines that were shown */
};

/*
 * Whether the command line of gpuprobe record left calls out. An anonymous recording has none: then
 * all calls may be there.
 */
static bool lacks_calls(const struct recording_header *header)
{
	static const char *const leaving_out[] = {"-e", "--e", "--fa", "--min-d", "--api"};
	char words[sizeof(header->options) + 1] = "", *rest = NULL;

	memcpy(words, header->options, sizeof(header->options));
	for (const char *word = strtok_r(words, " ", &rest); word && strcmp(word, "--");
	     word = strtok_r(NULL, " ", &rest))
		for (size_t i = 0; i < sizeof(leaving_out) / sizeof(*leaving_out); i++)
			if (!strncmp(word, leaving_out[i], strlen(leaving_out[i])))
				return true;
	return false;
}

static int open_sink(struct replay *replay, struct error *err)
{
	const struct recording_header *header = recording__header(replay->recording);
	const struct trace_origin origin = {
		.begin_ns = header->begin_ns,
		.wall_offset_ns = header->wall_offset_ns,
		.host = *header->host ? header->host : NULL,
		.kernel = *header->kernel ? header->kernel : NULL,
		.lacks_calls = lacks_calls(header),
		.has_gpu_work = header->flags & RECORDING_GPU_WORK,
	};

	return trace_sink__new(replay->options, &origin, -1, &replay->log, &replay->sink, err);
}

static int check_options(const struct replay *replay, struct error *err)
{
	uint32_t flags = recording__header(replay->recording)->flags;

	if (replay->options->stacks.mode != STACK_OFF && !(flags & RECORDING_STACKS))
		return error__set(err, -EINVAL,
				  "%s has no stacks: they are recorded by gpuprobe record --stack",
				  replay->options->input.path);
	if (replay->options->config.nested && !(flags & RECORDING_NESTED) &&
	    !replay->options->nested_as_recorded)
		return error__set(err, -EINVAL,
				  "%s has no nested calls: they are recorded by gpuprobe record "
				  "--nested",
				  replay->options->input.path);
	return 0;
}

/* Findings come from --findings, or from the readings beside the calls. */
static int open_findings(struct replay *replay, struct error *err)
{
	const struct trace_options *options = replay->options;
	const struct recording_header *calls = recording__header(replay->recording);
	bool has_own = options->draws && calls->flags & RECORDING_READINGS;
	struct error why = {""};

	if (options->findings)
		return finding_marks__new(options->findings, calls, &replay->log, &replay->findings,
					  err);
	if (has_own &&
	    finding_marks__new(options->input.path, calls, &replay->log, &replay->findings, &why))
		log__warn(&replay->log, "the timeline has no findings: %s", why.text);
	return 0;
}

static int set_up(struct replay *replay, struct error *err)
{
	const struct trace_options *options = replay->options;
	int ret;

	signals__survive_write(SIGPIPE);
	ret = recording_choice__open(&options->input, RECORDING_CALLS, &replay->recording, err);
	if (!ret)
		ret = check_options(replay, err);
	if (!ret)
		ret = open_findings(replay, err);
	if (!ret)
		ret = open_sink(replay, err);
	if (!ret)
		ret = privileges__give_up_all(err);
	if (ret)
		return ret;
	replay->functions = trace_functions__new(false);
	if (replay->functions)
		replay->calls =
			call_reader__new(replay->recording, replay->functions, options->full_names);
	replay->filter = recorded_filter__new(options, recording__header(replay->recording));
	if (!replay->calls || !replay->filter)
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

static void count(struct trace_counts *counts, const struct trace_line *line)
{
	counts->unfollowed += line->kind == LINE_UNFOLLOWED;
	if (line->kind != LINE_LOST)
		return;
	counts->losses[line->reason] += line->lost;
	/* Losses of stacks and returns leave the call. */
	if (line->reason == TRACE_LOST_RING || line->reason == TRACE_LOST_THREAD ||
	    line->reason == TRACE_LOST_DEPTH)
		counts->lost += line->lost;
}

/* Passes the lines on. Returns 0 or a negative errno of the recording. */
static int show_lines(struct replay *replay)
{
	uint64_t from_ns = recorded_filter__from(replay->filter);
	struct trace_line line;
	int ret = from_ns ? recording__seek(replay->recording, from_ns) : 0;

	if (ret)
		return ret;
	while ((ret = call_reader__next(replay->calls, &line)) == 1) {
		if (recorded_filter__is_over(replay->filter, &line))
			return 0;
		if (!recorded_filter__takes(replay->filter, &line))
			continue;
		count(&replay->counts, &line);
		replay->gpu_work += line.kind == LINE_GPU;
		if (!replay->first_ns || line.start_ns < replay->first_ns)
			replay->first_ns = line.start_ns;
		if (trace_sink__line(replay->sink, &line))
			return 0;
	}
	return ret;
}

static void report(const struct replay *replay, const struct trace_missing *missing)
{
	const struct recorded_calls_end *end = call_reader__end(replay->calls);
	unsigned long long calls = trace_sink__calls(replay->sink);

	if (end && end->dropped)
		log__warn(&replay->log,
			  "the recording was full (--max-size): %" PRIu64 " calls are missing at "
			  "its end",
			  end->dropped);
	if (replay->options->quiet && !missing->calls && !missing->libraries && !missing->gpu_work)
		return;
	if (trace_sink__is_closed(replay->sink))
		return;
	fprintf(stderr, "gpuprobe: %s %llu recorded call%s, lost %llu",
		replay->options->lines ? "written" : "summed up", calls, calls == 1 ? "" : "s",
		(unsigned long long)missing->calls);
	if (replay->gpu_work || missing->gpu_work)
		fprintf(stderr,
			"; GPU: %" PRIu64 " kernels, copies, sets and graphs, lost %" PRIu64,
			replay->gpu_work, missing->gpu_work);
	if (missing->libraries)
		fprintf(stderr, "; %llu file%s that may be CUDA libraries got no probes",
			(unsigned long long)missing->libraries, missing->libraries == 1 ? "" : "s");
	fputc('\n', stderr);
}

/* With --until up to then, otherwise also those that appeared after the last call. */
static int draw_findings(const struct replay *replay, struct error *err)
{
	uint64_t to_ns = replay->options->input.to_ns;

	if (to_ns)
		to_ns += recording__header(replay->recording)->begin_ns;
	return finding_marks__draw(replay->findings, replay->first_ns, to_ns,
				   trace_sink__timeline(replay->sink), err);
}

static int finish(struct replay *replay, int failure, int *status, struct error *err)
{
	const struct recorded_calls_end *end = call_reader__end(replay->calls);
	const struct trace_missing missing = {
		.calls = replay->counts.lost,
		.libraries = end ? end->skipped_libraries : 0,
		.before = trace_sink__earlier_calls(replay->sink),
		.gpu_work = end ? end->gpu_work_lost : 0,
	};
	bool is_partial = damage_report__warn(
		replay->recording, recording__header(replay->recording)->begin_ns, "calls",
		call_reader__unreadable(replay->calls), &replay->log);
	int ret = failure ? error__set(err, failure, "cannot read %s: %s",
				       replay->options->input.path, strerror(-failure)) :
			    0;

	if (!ret && replay->findings)
		ret = draw_findings(replay, err);
	if (trace_sink__finish(replay->sink, &missing, &replay->counts, ret ? NULL : err) && !ret)
		ret = -EIO;
	report(replay, &missing);
	trace_sink__report_timeline(replay->sink, &replay->log);
	if (!ret)
		*status = replay->options->strict && (missing.calls || missing.libraries ||
						      missing.gpu_work || is_partial) ?
				  EXIT_LOST :
				  0;
	return ret;
}

int trace_recorded__run(const struct trace_options *options, int *status, struct error *err)
{
	struct replay replay = {
		.options = options,
		.log = subcommand__set_log(options->log_level),
	};
	int ret = set_up(&replay, err);

	if (!ret)
		ret = finish(&replay, show_lines(&replay), status, err);
	finding_marks__free(replay.findings);
	trace_sink__free(replay.sink);
	recorded_filter__free(replay.filter);
	call_reader__free(replay.calls);
	trace_functions__free(replay.functions);
	recording__free(replay.recording);
	return ret;
}
