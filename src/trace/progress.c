// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls in progress: up to which time all events have arrived, and which calls are no longer waited
 * for.
 *
 * A call announces its beginning before it can be seen in any line, and withdraws that after its
 * event is in the ring (include/gpuprobe/trace.h). So once the ring has been read up to where it
 * was written when all threads had been checked, no event can arrive that began before the earliest
 * of them.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "trace/private.h"

/*
 * Maximum difference between the clocks of CPUs, and between the orders in which their writes
 * become visible.
 */
#define CLOCK_MARGIN_NS 10000
#define ENTERING_LOOKS 200 /* checks of a thread that is just entering */
#define SEARCH_PAUSE_NS (50 * NS_PER_MS)

static uint64_t began(const struct trace_stream *stream, uint32_t thread)
{
	return __atomic_load_n(&stream->source->began[thread], __ATOMIC_ACQUIRE);
}

static uint64_t began_settled(const struct trace_stream *stream, uint32_t thread)
{
	uint64_t since = began(stream, thread);

	for (unsigned int i = 0; since == TRACE_ENTERING && i < ENTERING_LOOKS; i++)
		since = began(stream, thread);
	return since;
}

static uint32_t thread_count(const struct trace_stream *stream)
{
	uint32_t count = stream->source->calls->thread_count(stream->source);

	return count < TRACE_THREADS ? count : TRACE_THREADS;
}

/* A thread that stays in the entering state is waited for no longer than any other call. */
static bool is_entering(struct trace_stream *stream, bool entering)
{
	if (!entering)
		stream->entering_since = 0;
	else if (!stream->entering_since)
		stream->entering_since = stream->now;
	return entering && stream->now - stream->entering_since < stream->options.hold_ns;
}

uint64_t trace_stream__look(struct trace_stream *stream)
{
	uint64_t bound = stream->now > CLOCK_MARGIN_NS ? stream->now - CLOCK_MARGIN_NS : 0;
	uint32_t count = thread_count(stream);
	bool entering = false;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t since = began_settled(stream, i);

		if (since == TRACE_ENTERING)
			entering = true;
		else if (since && since < bound && stream->shown[i][0] != since)
			bound = since;
	}
	return is_entering(stream, entering) ? 0 : bound;
}

/* Whether its return will be reported, as far as known now. */
static bool will_be_reported(const struct trace_stream *stream, const struct trace_event *event)
{
	const struct trace_config *config = stream->source->config;

	return !config->failed &&
	       event->duration_ns - trace_stream__held(stream, event) >= config->min_duration_ns;
}

/* Whether to stop waiting for the call, or for the one around it. */
static bool is_sought(struct trace_stream *stream, const struct trace_event *event)
{
	if (!event->depth) {
		stream->searched = TRACE_THREADS;
		if (event->start_ns >= stream->search_before ||
		    began(stream, event->thread) != event->start_ns)
			return false;
		stream->searched = event->thread;
	}
	return stream->searched == event->thread;
}

static int show_in_progress(const struct trace_event *event, size_t size, void *arg)
{
	struct trace_stream *stream = arg;
	const struct trace_function *function = trace_stream__check(stream, event, size);
	uint64_t *shown;

	if (!function || !is_sought(stream, event))
		return 0;
	shown = &stream->shown[event->thread][event->depth];
	if (*shown == event->start_ns ||
	    reorder__has(stream->order, event->thread, event->depth, event->start_ns))
		return 0;
	*shown = event->start_ns;
	if (!will_be_reported(stream, event) || event->start_ns < stream->handed)
		return 0;
	return trace_stream__add(stream, event, size, function, LINE_IN_PROGRESS, event->start_ns);
}

/* A call that two searches did not find has no event to come, or a late one. */
static void give_up_missing(struct trace_stream *stream)
{
	uint32_t count = thread_count(stream);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t since = began(stream, i);

		if (!since || since == TRACE_ENTERING || since >= stream->search_before ||
		    stream->shown[i][0] == since)
			continue;
		if (stream->missed[i] == since)
			stream->shown[i][0] = since;
		stream->missed[i] = since;
	}
}

int trace_stream__stop_waiting(struct trace_stream *stream)
{
	const struct trace_stream_options *options = &stream->options;
	uint64_t oldest = stream->now > options->hold_ns ? stream->now - options->hold_ns : 0;
	int ret;

	if (stream->now < stream->next_search_ns)
		return 0;
	stream->search_before = oldest;
	/*
	 * Once the calls that began before the middle of the pending events are given up, half of
	 * the events can be printed.
	 */
	if (reorder__bytes(stream->order) > options->hold_bytes &&
	    reorder__middle(stream->order) > oldest)
		stream->search_before = reorder__middle(stream->order);
	if (stream->due >= stream->search_before)
		return 0;
	stream->next_search_ns = stream->now + SEARCH_PAUSE_NS;
	stream->searched = TRACE_THREADS;
	ret = stream->source->calls->in_progress(stream->source, show_in_progress, stream);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		log__debug(stream->log, "cannot list the calls in progress: %s", strerror(-ret));
	give_up_missing(stream);
	return 1;
}

/*
 * A call whose thread could not be announced is lost, as are the earlier calls of that thread; it
 * is counted with the other losses.
 */
static void lose(struct trace_stream *stream)
{
	__atomic_fetch_add(&stream->source->lost[TRACE_LOST_RING].count, 1, __ATOMIC_RELAXED);
}

static int show_unfinished(const struct trace_event *event, size_t size, void *arg)
{
	struct trace_stream *stream = arg;
	const struct trace_function *function = trace_stream__check(stream, event, size);
	uint64_t *shown, time = event->start_ns;

	if (event->thread == TRACE_NOT_TOLD && event->start_ns >= stream->began &&
	    will_be_reported(stream, event))
		lose(stream);
	if (!function || !will_be_reported(stream, event) ||
	    reorder__has(stream->order, event->thread, event->depth, event->start_ns))
		return 0;
	shown = &stream->shown[event->thread][event->depth];
	if (*shown == event->start_ns || stream->options.entry_return || time < stream->handed)
		time += event->duration_ns;
	if (time < stream->handed)
		time = stream->handed;
	*shown = TOLD;
	return trace_stream__add(stream, event, size, function, LINE_UNFINISHED, time);
}

int trace_stream__add_unfinished(struct trace_stream *stream)
{
	int ret = stream->source->calls->in_progress(stream->source, show_unfinished, stream);

	if (ret && ret != -ENOMEM) {
		log__warn(stream->log, "cannot list the calls that are still in progress: %s",
			  strerror(-ret));
		ret = 0;
	}
	return ret;
}
