// SPDX-License-Identifier: BSD-2-Clause
// Work of GPUs in a trace, see trace_gpu.h.
#include "cli/commands/trace_gpu.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/ring.h"
#include "base/text_stream.h"
#include "cli/session/gpu_times_watch.h"
#include "gen/trace.skel.h"
#include "probe/times_object.h"

#define GIVE_UP_NS (2 * NS_PER_S) /* work waits for its call so long, or twice as long */
#define FAILURES 8		  /* processes of which it is said why they have no GPU times */
#define AHEAD 2			  /* ends a reading: the lines of the calls come first */

struct trace_gpu {
	const struct log *log;
	struct times_object *object;
	struct ring ring;
	struct gpu_feed *feed;
	uint64_t passed_ns, gave_up_ns;
	unsigned int failures;
};

/* --- which kinds --- */

static bool selects(const struct trace_options *options, enum operation operation)
{
	if (!options->chooses_functions)
		return true;
	for (size_t i = 0; i < api_function_count; i++)
		if (api_functions[i].desc.operation == operation &&
		    trace_selection__wants(options->selection, &api_functions[i]))
			return true;
	return false;
}

unsigned int trace_gpu__kinds(const struct trace_options *options)
{
	unsigned int kinds = 0;

	if (selects(options, OP_LAUNCH))
		kinds |= 1u << GPU_WORK_KERNEL;
	if (selects(options, OP_GRAPH_LAUNCH))
		kinds |= 1u << GPU_WORK_GRAPH | 1u << GPU_WORK_GRAPH_KERNEL;
	if (selects(options, OP_COPY))
		kinds |= 1u << GPU_WORK_COPY;
	if (selects(options, OP_SET))
		kinds |= 1u << GPU_WORK_SET;
	return kinds;
}

/* --- setting up --- */

int trace_gpu__set_variables(struct error *err)
{
	return gpu_times_watch__set_variables(0, false, err);
}

static void on_failure(pid_t pid, int64_t code, const char *text, void *arg)
{
	struct trace_gpu *gpu = arg;
	char *reason = NULL;
	size_t length;
	FILE *out;

	if (gpu->failures++ >= FAILURES)
		return;
	out = text_stream__open(&reason, &length);
	if (!out)
		return;
	escape__text(out, text);
	if (code)
		fprintf(out, " (CUPTI's error %" PRId64 ")", code);
	if (!fclose(out))
		log__warn(gpu->log, "no GPU times of process %d: %s; see docs/gpu-times.md", pid,
			  reason);
	free(reason);
}

static int open_object(struct trace_gpu *gpu, const struct trace_bpf *skeleton,
		       enum link_kind links, struct error *err)
{
	const struct times_object_base base = {
		.config = (const struct config *)&skeleton->rodata->config,
		.watched = bpf_map__fd(skeleton->maps.watched),
	};
	int ret = times_object__new(&base, links, gpu_times_watch__library(), &gpu->object, err);

	if (ret)
		return ret;
	ret = ring__map(&gpu->ring, times_object__ring_fd(gpu->object));
	return ret ? error__set(err, ret, "cannot map the ring of GPU times: %s", strerror(-ret)) :
		     0;
}

int trace_gpu__new(const struct trace_bpf *skeleton, enum link_kind links,
		   const struct trace_options *options, const struct log *log,
		   int (*line)(const struct trace_line *line, void *arg), void *arg,
		   struct trace_gpu **out, struct error *err)
{
	struct trace_gpu *gpu = calloc(1, sizeof(*gpu));
	const struct gpu_feed_options feed = {
		.full_names = options->full_names,
		.kinds = trace_gpu__kinds(options),
		.only_called = options->count,
		.only_shown = process_filter__is_set(&options->targets.filter),
		.line = line,
		.line_arg = arg,
		.failed = on_failure,
		.failed_arg = gpu,
	};
	int ret;

	if (!gpu)
		return error__set(err, -ENOMEM, "out of memory");
	gpu->log = log;
	gpu->feed = gpu_feed__new(&feed);
	ret = gpu->feed ? open_object(gpu, skeleton, links, err) :
			  error__set(err, -ENOMEM, "out of memory");
	if (ret)
		trace_gpu__free(gpu);
	else
		*out = gpu;
	return ret;
}

void trace_gpu__free(struct trace_gpu *gpu)
{
	if (!gpu)
		return;
	gpu_feed__free(gpu->feed);
	ring__unmap(&gpu->ring);
	times_object__free(gpu->object);
	free(gpu);
}

/* --- reading --- */

static int take(const void *record, size_t size, void *arg)
{
	struct trace_gpu *gpu = arg;

	return gpu_feed__take(gpu->feed, record, size) > gpu->passed_ns ? AHEAD : 0;
}

/* A ring that fills up does not wait: the calls of some work are unknown then. */
static bool is_filling(const struct trace_gpu *gpu, uint64_t end)
{
	return end - gpu->ring.read > gpu->ring.size / 4 * 3;
}

static bool read_ring(struct trace_gpu *gpu)
{
	uint64_t end = ring__written(&gpu->ring);

	while (ring__read(&gpu->ring, end, take, gpu) == AHEAD && is_filling(gpu, end))
		;
	return gpu_feed__join(gpu->feed);
}

bool trace_gpu__call(struct trace_gpu *gpu, const struct trace_line *line)
{
	if (!gpu_feed__call(gpu->feed, line))
		return false;
	gpu->passed_ns = line->start_ns;
	return read_ring(gpu);
}

bool trace_gpu__drain(struct trace_gpu *gpu, uint64_t passed_ns)
{
	uint64_t now_ns = clock__boot_ns();

	gpu->passed_ns = passed_ns;
	if (read_ring(gpu))
		return true;
	if (now_ns - gpu->gave_up_ns < GIVE_UP_NS)
		return false;
	gpu->gave_up_ns = now_ns;
	return gpu_feed__give_up(gpu->feed, false);
}

void trace_gpu__finish(struct trace_gpu *gpu)
{
	gpu->passed_ns = UINT64_MAX;
	if (!read_ring(gpu))
		gpu_feed__give_up(gpu->feed, true);
}

/* --- the end --- */

uint64_t trace_gpu__lost(const struct trace_gpu *gpu)
{
	uint64_t lost[GPU_TIMES_LOSSES];
	struct gpu_feed_counts counts;

	if (!gpu)
		return 0;
	gpu_feed__count(gpu->feed, &counts);
	times_object__lost(gpu->object, lost);
	return counts.dropped + counts.unplaced + counts.untimed + counts.refused +
	       lost[GPU_TIMES_LOST_WORK];
}

static void report_part(uint64_t count, const char *what)
{
	if (count)
		fprintf(stderr, ", %" PRIu64 " %s", count, what);
}

void trace_gpu__report(const struct trace_gpu *gpu)
{
	uint64_t lost[GPU_TIMES_LOSSES];
	struct gpu_feed_counts counts;

	gpu_feed__count(gpu->feed, &counts);
	times_object__lost(gpu->object, lost);
	fprintf(stderr, "; GPU: %" PRIu64 " kernels, copies, sets and graphs", counts.work);
	report_part(counts.uncalled, "of them without their call");
	report_part(counts.unrecorded, "calls without a record of CUPTI");
	report_part(counts.dropped, "records lost by CUPTI");
	report_part(counts.untimed, "without a time");
	report_part(counts.refused, "malformed");
	report_part(counts.unplaced + lost[GPU_TIMES_LOST_WORK], "lost for lack of room");
	report_part(counts.names + lost[GPU_TIMES_LOST_NAMES], "names lost");
	if (counts.silent)
		fprintf(stderr, "; nothing came from %" PRIu64 " process%s", counts.silent,
			counts.silent == 1 ? "" : "es");
}
