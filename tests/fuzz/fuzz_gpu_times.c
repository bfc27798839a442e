// SPDX-License-Identifier: BSD-2-Clause
// Records of the library for GPU times, which a watched program can make itself; what is summed up
// is printed, and so are the lines of a trace, which also become a timeline.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "model/gpu_times.h"
#include "output/json/gpu_times.h"
#include "output/timeline/timeline.h"
#include "output/trace/output.h"
#include "trace/gpu_feed.h"
#include "trace/gpu_work.h"

#define KINDS 6
#define A_CALL 5 /* no record of the library: a call that the probes saw */

/* A record is a kind, and as many bytes as it has; what the input lacks is zeros. */
static size_t size_of(uint32_t function)
{
	return function == GPU_TIMES_WORK  ? sizeof(struct gpu_times_work) :
	       function == GPU_TIMES_NAME  ? sizeof(struct gpu_times_name) :
	       function == GPU_TIMES_CLOCK ? sizeof(struct gpu_times_clock) :
	       function == A_CALL	   ? sizeof(struct gpu_call) :
					     sizeof(struct gpu_times_failure);
}

static void check(const struct gpu_times *times)
{
	const struct gpu_process_times *process, *next;

	HASH_ITER (hh, times->processes, process, next) {
		const struct process p = {.pid = (pid_t)process->key.pid,
					  .start_ns = process->key.start_ns};
		struct json json;

		MUST(process->kernel_count <= GPU_TIMES_KERNELS);
		json__init(&json, harness__sink());
		json__object_begin(&json);
		json_gpu_times__write(&json, times, &p);
		json_gpu_times__write_losses(&json, times);
		json__object_end(&json);
	}
}

/* Where the lines of a trace go. */
struct lines {
	struct trace_output *output;
	struct timeline *timeline;
};

static int take_line(const struct trace_line *line, void *arg)
{
	const struct lines *lines = arg;

	MUST(line->kind == LINE_GPU && line->process && line->gpu->kind < GPU_WORK_CALL);
	MUST(line->gpu->has_call || !line->tid);
	MUST(!trace_output__line(lines->output, line));
	MUST(!timeline__line(lines->timeline, line));
	return 0;
}

static void take_failure(pid_t pid, int64_t code, const char *text, void *arg)
{
	(void)code;
	(void)arg;
	MUST(pid < 3 && strlen(text) < GPU_TIMES_REASON_SIZE);
}

static struct gpu_feed *begin_lines(struct lines *lines, int sink)
{
	const struct trace_output_options output = {.format = TRACE_JSON};
	const struct timeline_options timeline = {.has_gpu_work = true, .plain = true};
	const struct gpu_feed_options feed = {
		.kinds = ~0u, .line = take_line, .line_arg = lines, .failed = take_failure};

	MUST(!trace_output__new(sink, &output, &lines->output, NULL));
	MUST(!timeline__new(sink, &timeline, &lines->timeline, NULL));
	return gpu_feed__new(&feed);
}

static void end_lines(struct lines *lines, struct gpu_feed *feed)
{
	struct gpu_feed_counts counts;

	gpu_feed__join(feed);
	gpu_feed__give_up(feed, true);
	gpu_feed__count(feed, &counts);
	MUST(counts.uncalled <= counts.work);
	gpu_feed__free(feed);
	MUST(!timeline__finish(lines->timeline));
	timeline__free(lines->timeline);
	trace_output__free(lines->output);
}

static void take(struct gpu_times *times, struct gpu_feed *feed, void *record, size_t length,
		 uint32_t function)
{
	struct gpu_times_head *head = record;
	struct gpu_call *call = record;

	if (function == A_CALL) {
		call->pid %= 3;
		gpu_times__take_call(times, call);
		return;
	}
	head->function = function;
	head->pid %= 3;
	gpu_times__take(times, record, length);
	gpu_feed__take(feed, record, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int sink = harness__file("", 0);
	struct gpu_times times = {0};
	struct lines lines;
	struct gpu_feed *feed = begin_lines(&lines, sink);

	MUST(feed);
	while (size) {
		size_t length = size_of(*data % KINDS), taken = size < length ? size : length;
		char *record = calloc(1, length);

		memcpy(record, data, taken);
		take(&times, feed, record, length, *data % KINDS);
		free(record);
		data += taken;
		size -= taken;
	}
	gpu_times__join(&times);
	check(&times);
	end_lines(&lines, feed);
	close(sink);
	gpu_times__clear(&times);
	return 0;
}
