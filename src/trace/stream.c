// SPDX-License-Identifier: BSD-2-Clause
/*
 * Turns the tracer's ring into lines, see stream.h: the steps of a drain.
 *
 *   progress.c   up to when all events have arrived; calls not waited for
 *   ingest.c     records into pending events (reorder.c), losses
 *   emit.c       events into lines
 */
#include "trace/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "target/mounts.h"
#include "trace/private.h"

#define HOLD_NS NS_PER_S
#define HOLD_BYTES (64ull << 20)
/* Limits of one drain, so that the caller can do other work in between. */
#define RECORDS_MAX 32768
#define BYTES_MAX (8u << 20)
#define LINES_MAX (2 * RECORDS_MAX)
#define STACKS_MAX 64 /* each may take a millisecond to name */
/* At the end, for a record that is still being written. */
#define BUSY_TRIES 200
#define BUSY_PAUSE_NS NS_PER_MS

/*
 * Creates the stacks without a ring (ring_fd -1): this stream reads their ring itself, as far as
 * the events need it.
 */
static int make_stacks(struct trace_stream *stream)
{
	const struct stacks_options options = {
		.mode = stream->options.stack_mode,
		.max = stream->options.max_stacks,
		.ring_fd = -1,
		.memory = stream->memory,
		.hooks = stream->source->stack_hooks,
	};

	return stacks__new(&options, stream->log, &stream->stacks, NULL);
}

static int make_parts(struct trace_stream *stream)
{
	const struct trace_stream_options *options = &stream->options;
	const struct trace_thread_options threads = {options->wants_cgroup, options->wants_names};

	stream->order = reorder__new();
	stream->threads = trace_threads__new(&threads);
	stream->memory = memory_reader__new(stream->log);
	stream->names = launch_names__new(options->full_names, stream->memory);
	stream->shown = calloc(TRACE_THREADS, sizeof(*stream->shown));
	stream->missed = calloc(TRACE_THREADS, sizeof(*stream->missed));
	if (options->wants_locations)
		stream->addresses = address_text__new();
	if (!stream->memory || (stream->source->stacks && make_stacks(stream)))
		return -ENOMEM;
	if (!stream->order || !stream->threads || !stream->names || !stream->shown ||
	    !stream->missed || (options->wants_locations && !stream->addresses))
		return -ENOMEM;
	return 0;
}

int trace_stream__open(struct trace_source *source, const struct trace_functions *functions,
		       const struct trace_stream_options *options, const struct log *log,
		       struct trace_stream **out, struct error *err)
{
	struct trace_stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		source->calls->free(source);
		return error__set(err, -ENOMEM, "out of memory");
	}
	stream->source = source;
	stream->functions = functions;
	stream->options = *options;
	stream->log = log;
	if (!stream->options.hold_ns)
		stream->options.hold_ns = HOLD_NS;
	if (!stream->options.hold_bytes)
		stream->options.hold_bytes = HOLD_BYTES;
	if (make_parts(stream)) {
		trace_stream__free(stream);
		return error__set(err, -ENOMEM, "out of memory");
	}
	*out = stream;
	return 0;
}

int trace_stream__new(struct trace_bpf *skeleton, const struct trace_functions *functions,
		      const struct trace_stream_options *options, const struct log *log,
		      struct trace_stream **out, struct error *err)
{
	struct trace_source *source;
	int ret = trace_source__new(skeleton, &source, err);

	return ret ? ret : trace_stream__open(source, functions, options, log, out, err);
}

void trace_stream__free(struct trace_stream *stream)
{
	struct pending_event *pending;
	uint64_t time;

	if (!stream)
		return;
	while (stream->order && (pending = reorder__first(stream->order, &time))) {
		trace_stream__let_go(stream, pending);
		reorder__pop(stream->order);
	}
	reorder__free(stream->order);
	launch_names__free(stream->names);
	address_text__free(stream->addresses);
	stacks__free(stream->stacks);
	memory_reader__free(stream->memory);
	trace_threads__free(stream->threads);
	free(stream->shown);
	free(stream->missed);
	stream->source->calls->free(stream->source);
	free(stream);
}

void trace_stream__see_process(struct trace_stream *stream, pid_t pid)
{
	if (stream->stacks)
		stacks__look_at(stream->stacks, pid, false);
}

void trace_stream__begin(struct trace_stream *stream, uint64_t now_ns)
{
	stream->began = now_ns;
}

uint64_t trace_stream__time(const struct trace_stream *stream)
{
	return stream->handed > stream->began ? stream->handed : stream->began;
}

uint64_t trace_stream__passed(const struct trace_stream *stream)
{
	uint64_t first_ns;

	return reorder__first(stream->order, &first_ns) && first_ns < stream->due ?
		       trace_stream__time(stream) :
		       stream->due;
}

int trace_stream__fd(const struct trace_stream *stream)
{
	return stream->source->fd;
}

void trace_stream__count(const struct trace_stream *stream, struct trace_counts *counts)
{
	struct stacks_counts stacks = {0};

	if (stream->stacks)
		stacks__count(stream->stacks, &stacks);
	*counts = stream->counts;
	counts->malformed += stacks.malformed;
	counts->evicted = stacks.evicted;
}

/* Returns 1 if much has been written without a wake-up to come. */
static int has_much(struct trace_stream *stream)
{
	struct trace_source *source = stream->source;
	uint64_t pending = source->calls->written(source) - source->calls->position(source);

	if (source->stacks && ring__written(source->stacks) > source->stacks->read)
		return 1;
	return pending && pending >= source->config->wake_bytes;
}

/* Reads the ring up to `end` if possible. Returns RING_BUSY, INTAKE_FULL, 0 or a negative errno. */
static int read_ring(struct trace_stream *stream, uint64_t end)
{
	struct trace_source *source = stream->source;

	stream->records_left = RECORDS_MAX;
	stream->bytes_left = BYTES_MAX;
	if (source->calls->position(source) >= end)
		return 0;
	return source->calls->read(source, end, trace_stream__take_record, stream);
}

/* Reads the ring of stacks as far as the events need it. Returns RING_BUSY or 0. */
static int read_stacks(struct trace_stream *stream)
{
	if (!stream->stacks)
		return 0;
	return ring__read(stream->source->stacks, stream->stacks_end, trace_stream__take_stack,
			  stream);
}

static bool has_read_stacks(const struct trace_stream *stream)
{
	return !stream->stacks || stream->source->stacks->read >= stream->stacks_end;
}

/* Names some of the stacks that were read. Returns 1 if there are more. */
static int name_stacks(struct trace_stream *stream)
{
	int more = stream->stacks != NULL;

	mounts__keep();
	for (unsigned int i = 0; more && i < STACKS_MAX; i++)
		more = stacks__settle(stream->stacks);
	mounts__forget();
	return more;
}

/* Returns 1 if there is more to take in, 0 or a negative errno. */
static int take_in(struct trace_stream *stream)
{
	struct trace_source *source = stream->source;
	int ret, stacks;

	if (!stream->looked) {
		stream->bound = trace_stream__look(stream);
		stream->end = source->calls->written(source);
		/* A stack is in its ring before the event that has its id. */
		stream->stacks_end = source->stacks ? ring__written(source->stacks) : 0;
		stream->looked = true;
		ret = trace_stream__take_losses(stream);
		if (ret)
			return ret;
	}
	stacks = read_stacks(stream);
	stream->names_wait = name_stacks(stream);
	ret = read_ring(stream, stream->end);
	launch_names__look_up(stream->names, stream->now);
	if (ret == INTAKE_FULL && source->calls->position(source) < stream->end)
		return 1;
	if (ret < 0 || ret == RING_BUSY)
		return ret < 0 ? ret : 0;
	if (stacks == RING_BUSY || stream->names_wait)
		return stream->names_wait;
	stream->looked = false;
	if (stream->bound > stream->due)
		stream->due = stream->bound;
	return trace_stream__stop_waiting(stream);
}

int trace_stream__drain(struct trace_stream *stream)
{
	struct trace_source *source = stream->source;
	int more, ret;

	if (stream->ended)
		return stream->ended;
	stream->now = source->calls->now(source);
	source->calls->acknowledge(source);
	more = take_in(stream);
	/* Looking up one stack would name all pending ones. */
	if (more < 0 || stream->names_wait)
		return more < 0 ? more : 1;
	ret = trace_stream__hand_out(stream, LINES_MAX);
	if (ret < 0)
		return ret;
	return more || ret || has_much(stream);
}

static bool has_read_all(const struct trace_stream *stream, uint64_t end)
{
	return stream->source->calls->position(stream->source) >= end && has_read_stacks(stream);
}

/*
 * Takes in everything in the rings. Stops waiting after a while for a record that is still being
 * written.
 */
static int take_in_rest(struct trace_stream *stream)
{
	const struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
	struct trace_source *source = stream->source;
	uint64_t end = source->calls->written(source);
	unsigned int tries = 0;
	int ret = 0, stacks;

	stream->stacks_end = source->stacks ? ring__written(source->stacks) : 0;
	while (!has_read_all(stream, end)) {
		stacks = read_stacks(stream);
		ret = read_ring(stream, end);
		if (ret < 0)
			return ret;
		if (ret != RING_BUSY && stacks != RING_BUSY)
			continue;
		if (++tries > BUSY_TRIES) {
			log__warn(stream->log, "a record in the ring was never completed: later "
					       "calls are not shown");
			break;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

int trace_stream__finish(struct trace_stream *stream)
{
	int ret;

	if (stream->ended)
		return stream->ended;
	stream->now = stream->source->calls->now(stream->source);
	/*
	 * Once more after the calls in progress: threads that end meanwhile send theirs themselves.
	 */
	ret = take_in_rest(stream);
	if (!ret)
		ret = trace_stream__add_unfinished(stream);
	if (!ret)
		ret = take_in_rest(stream);
	if (!ret)
		ret = trace_stream__take_losses(stream);
	if (ret)
		return ret;
	launch_names__look_up(stream->names, stream->now);
	stream->due = UINT64_MAX;
	return trace_stream__hand_out(stream, SIZE_MAX);
}
