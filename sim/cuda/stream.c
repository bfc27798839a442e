// SPDX-License-Identifier: BSD-2-Clause
/*
 * Streams and events. With CUDA_SIM_ASYNC=DURATION, work on a stream is done that long after it was
 * submitted; with CUDA_SIM_CLOCK, when the clock says so. Until then waits block and queries return
 * not ready. Without either, all work is done when the call returns.
 */
#include "cuda/clock.h"
#include "cuda/graph.h"
#include "record/internal.h"

#include <time.h>

struct CUstream_st *stream__get(const struct sim_call *call, CUstream stream)
{
	struct CUctx_st *context = driver__context();

	if (stream == CU_STREAM_PER_THREAD || (!stream && call->per_thread)) {
		if (sim_unlikely(driver.clock))
			return clock__thread_stream(context);
		driver_thread.stream.context = context;
		return &driver_thread.stream;
	}
	if (!stream || stream == CU_STREAM_LEGACY)
		return context->legacy;
	return pool__holds(driver.streams, stream) ? stream : NULL;
}

void stream__gate(CUstream handle, const struct gate *gate)
{
	struct sim_call call = { 0 };
	struct CUstream_st *stream = stream__get(&call, handle);

	if (!stream)
		return;
	gates__add(&stream->gates, gate);
	gates__add(&stream->context->gates, gate);
	if (!(stream->flags & CU_STREAM_NON_BLOCKING))
		gates__add(&stream->context->legacy->gates, gate);
}

static void raise_to(uint64_t *value, uint64_t least)
{
	uint64_t old = __atomic_load_n(value, __ATOMIC_RELAXED);

	while (old < least && !__atomic_compare_exchange_n(value, &old, least, true,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void stream__occupy(struct CUstream_st *stream, uint64_t done)
{
	raise_to(&stream->busy_until, done);
	raise_to(&stream->context->busy_until, done);
	if (!(stream->flags & CU_STREAM_NON_BLOCKING))
		raise_to(&stream->context->legacy->busy_until, done);
}

void stream__slow_issue(struct CUstream_st *stream, enum work work, uint64_t amount)
{
	if (driver.clock)
		listener__work(stream, work, amount);
	else
		stream__occupy(stream, sim_now() + driver.async_ns);
}

/* `flags` are the context's. */
static void wait_until(uint64_t done, unsigned int flags)
{
	struct timespec until = {
		.tv_sec = (time_t)(done / 1000000000), .tv_nsec = (long)(done % 1000000000),
	};

	if (!driver.takes_time || sim_now() >= done)
		return;
	if (driver.clock) {
		clock__wait(done, flags);
		return;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

static int ready(uint64_t done)
{
	return driver.takes_time && sim_now() < done ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static uint64_t busy_until(const struct CUstream_st *stream)
{
	return __atomic_load_n(&stream->busy_until, __ATOMIC_RELAXED);
}

int stream__wait(struct CUstream_st *stream)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream__capture(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	wait_until(busy_until(stream), stream->context->flags);
	gates__wait(&stream->gates);
	mempool__synchronized(stream->context->device);
	return CUDA_SUCCESS;
}

int stream__wait_context(struct CUctx_st *context)
{
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	wait_until(__atomic_load_n(&context->busy_until, __ATOMIC_RELAXED), context->flags);
	gates__wait(&context->gates);
	mempool__synchronized(context->device);
	return CUDA_SUCCESS;
}

void stream__wait_default(const struct sim_call *call, enum work work)
{
	struct CUstream_st *stream;

	if (!sim_unlikely(driver.takes_time))
		return;
	stream = stream__get(call, NULL);
	if (driver.clock)
		clock__wait(listener__work(stream, work, call->bytes), stream->context->flags);
	else
		wait_until(busy_until(stream), 0);
}

void stream__slow_settle(const struct CUctx_st *context)
{
	clock__wait(__atomic_load_n(&context->busy_until, __ATOMIC_RELAXED), context->flags);
}

int stream__create(CUstream *out, struct CUctx_st *context, unsigned int flags, int priority)
{
	struct CUstream_st *stream;

	if (!out || flags > CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	stream = pool__take(driver.streams);
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->context = context;
	stream->flags = flags;
	stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
	stream->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	driver__created(SIM_STREAM);
	*out = stream;
	return CUDA_SUCCESS;
}

void stream__forget(struct CUstream_st *stream)
{
	if (driver.clock)
		clock__forget(stream);
}

static int destroy(struct CUstream_st *stream)
{
	int result = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&driver.lock);
	if (pool__holds(driver.streams, stream) && stream != stream->context->legacy) {
		stream__forget(stream);
		pool__give(driver.streams, stream);
		driver__destroyed(SIM_STREAM);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

void stream__release_all(struct CUctx_st *context)
{
	struct CUstream_st *stream = NULL;
	struct CUevent_st *event = NULL;

	while ((stream = pool__next(driver.streams, stream)) != NULL) {
		if (stream->context != context || stream == context->legacy)
			continue;
		stream__forget(stream);
		pool__give(driver.streams, stream);
		driver__went(SIM_STREAM);
	}
	while ((event = pool__next(driver.events, event)) != NULL) {
		if (event->context != context)
			continue;
		pool__give(driver.events, event);
		driver__went(SIM_EVENT);
	}
}

static int query(struct CUstream_st *stream)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream__capture(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (!gates__open(&stream->gates))
		return CUDA_ERROR_NOT_READY;
	return ready(busy_until(stream));
}

static int get_uint(const struct CUstream_st *stream, unsigned int *out, unsigned int value)
{
	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = value;
	return CUDA_SUCCESS;
}

static int get_id(const struct CUstream_st *stream, unsigned long long *out)
{
	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = stream->id;
	return CUDA_SUCCESS;
}

static int get_context(const struct CUstream_st *stream, CUcontext *out, CUgreenCtx *green)
{
	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = stream->context;
	if (green)
		*green = stream->context->green;
	return CUDA_SUCCESS;
}

/* The work on the simulated device is done, so the host function can run right here. */
static int run_host(struct sim_call *call, CUstream handle, CUhostFn function, void *argument)
{
	struct CUstream_st *stream = stream__get(call, handle);
	struct CUgraphNode_st *node;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream__capture(stream)) {
		node = capture__add(stream, CU_GRAPH_NODE_TYPE_HOST);
		if (!node)
			return CUDA_ERROR_OUT_OF_MEMORY;
		node->host = (CUDA_HOST_NODE_PARAMS){ function, argument };
		call->captured = true;
		return CUDA_SUCCESS;
	}
	stream__issue(stream, WORK_OTHER, 0);
	function(argument);
	return CUDA_SUCCESS;
}

static int add_callback(struct CUstream_st *stream, CUstream handle, CUstreamCallback callback,
			void *argument)
{
	if (!stream || !callback)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	if (stream__capture(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	callback(handle, CUDA_SUCCESS, argument);
	return CUDA_SUCCESS;
}

static int create_event(CUevent *out, unsigned int flags)
{
	struct CUevent_st *event;

	if (!out || flags > 7)
		return CUDA_ERROR_INVALID_VALUE;
	event = pool__take(driver.events);
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->context = driver__context();
	event->flags = flags;
	driver__created(SIM_EVENT);
	*out = event;
	return CUDA_SUCCESS;
}

static struct CUevent_st *checked(CUevent event)
{
	return pool__holds(driver.events, event) ? event : NULL;
}

static int destroy_event(CUevent event)
{
	int result = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&driver.lock);
	if (checked(event)) {
		pool__give(driver.events, event);
		driver__destroyed(SIM_EVENT);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

/* When an event that is recorded now will be done. */
static uint64_t mark(struct CUstream_st *stream)
{
	if (driver.clock)
		return clock__mark(stream, 0);
	return driver.async_ns ? busy_until(stream) : sim_now();
}

static int record(struct CUevent_st *event, struct CUstream_st *stream)
{
	if (!event || !stream)
		return CUDA_ERROR_INVALID_HANDLE;
	event->stream = stream;
	event->capture = stream__capture(stream);
	event->capture_id = event->capture ? stream->capture_id : 0;
	event->node = event->capture ? stream->last : NULL;
	event->recorded = !event->capture;
	event->done_at = event->recorded ? mark(stream) : 0;
	event->gates = stream->gates;
	return CUDA_SUCCESS;
}

static void set_recorded(struct CUevent_st *event, struct CUstream_st *stream, uint64_t done_at)
{
	event->capture = NULL;
	event->stream = stream;
	event->recorded = true;
	event->done_at = done_at;
	event->gates = stream->gates;
}

void event__record(CUevent event, struct CUstream_st *stream)
{
	if (checked(event))
		set_recorded(event, stream, mark(stream));
}

void event__await(CUevent event, struct CUstream_st *stream)
{
	if (checked(event) && event->recorded)
		clock__mark(stream, event->done_at);
}

static uint64_t mark_context(const struct CUctx_st *context)
{
	uint64_t busy = __atomic_load_n(&context->busy_until, __ATOMIC_RELAXED);
	uint64_t now = sim_now();

	if (driver.async_ns || (driver.clock && busy > now))
		return busy;
	return now;
}

int event__record_context(CUevent event, struct CUctx_st *context)
{
	if (!checked(event))
		return CUDA_ERROR_INVALID_HANDLE;
	set_recorded(event, context->legacy, mark_context(context));
	return CUDA_SUCCESS;
}

int event__wait_context(struct CUctx_st *context, CUevent event)
{
	if (!checked(event))
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->capture)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (driver.clock && event->recorded)
		clock__hold(context, event->done_at);
	if (driver.takes_time && event->recorded)
		stream__occupy(context->legacy, event->done_at);
	return CUDA_SUCCESS;
}

static int wait_event(struct CUstream_st *stream, struct CUevent_st *event)
{
	if (!event || !stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->capture)
		return capture__join(stream, event);
	if (!event->recorded)
		return CUDA_SUCCESS;
	if (stream__capture(stream))
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	gates__join(&stream->gates, &event->gates);
	if (driver.clock)
		clock__mark(stream, event->done_at);
	else if (driver.async_ns)
		stream__occupy(stream, event->done_at);
	return CUDA_SUCCESS;
}

/* An event recorded in a capture has no state to query. */
static int query_event(struct CUevent_st *event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->capture)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (event->recorded && !gates__open(&event->gates))
		return CUDA_ERROR_NOT_READY;
	return event->recorded ? ready(event->done_at) : CUDA_SUCCESS;
}

/* An event created for blocking waits sleeps, whatever the context's flags say. */
static unsigned int waiting_flags(const struct CUevent_st *event)
{
	return event->flags & CU_EVENT_BLOCKING_SYNC ? CU_CTX_SCHED_BLOCKING_SYNC :
						       event->context->flags;
}

static int synchronize_event(struct CUevent_st *event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->capture)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (event->recorded)
		wait_until(event->done_at, waiting_flags(event));
	if (event->recorded)
		gates__wait(&event->gates);
	mempool__synchronized(event->context->device);
	return CUDA_SUCCESS;
}

static int elapsed(float *out, struct CUevent_st *start, struct CUevent_st *end)
{
	if (!start || !end || !start->recorded || !end->recorded)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (query_event(start) || query_event(end))
		return CUDA_ERROR_NOT_READY;
	*out = (float)((double)end->done_at - (double)start->done_at) / 1e6f;
	return CUDA_SUCCESS;
}

#define STREAM stream__get(&call, stream)

DRIVER(cuStreamCreate, SIM_OTHER, (CUstream *out, unsigned int flags), 0,
       stream__create(out, driver__context(), flags, 0));
DRIVER(cuStreamCreateWithPriority, SIM_OTHER, (CUstream *out, unsigned int flags, int priority),
       0, stream__create(out, driver__context(), flags, priority));
DRIVER(cuStreamDestroy, SIM_OTHER, (CUstream stream), 0, destroy(stream));
DRIVER(cuStreamDestroy_v2, SIM_OTHER, (CUstream stream), 0, destroy(stream));
DRIVER_PTSZ(cuStreamSynchronize, SIM_SYNC, (CUstream stream), 0, stream__wait(STREAM));
DRIVER_PTSZ(cuStreamQuery, SIM_OTHER, (CUstream stream), 0, query(STREAM));
DRIVER_PTSZ(cuStreamGetPriority, SIM_OTHER, (CUstream stream, int *out), 0,
	    get_uint(STREAM, (unsigned int *)out, STREAM ? (unsigned int)STREAM->priority : 0));
DRIVER_PTSZ(cuStreamGetFlags, SIM_OTHER, (CUstream stream, unsigned int *out), 0,
	    get_uint(STREAM, out, STREAM ? STREAM->flags : 0));
DRIVER_PTSZ(cuStreamGetDevice, SIM_OTHER, (CUstream stream, CUdevice *out), 0,
	    get_uint(STREAM, (unsigned int *)out,
		     STREAM ? (unsigned int)STREAM->context->device : 0));
DRIVER_PTSZ(cuStreamGetId, SIM_OTHER, (CUstream stream, unsigned long long *out), 0,
	    get_id(STREAM, out));
DRIVER_PTSZ(cuStreamGetCtx, SIM_OTHER, (CUstream stream, CUcontext *out), 0,
	    get_context(STREAM, out, NULL));
DRIVER_PTSZ(cuStreamGetCtx_v2, SIM_OTHER, (CUstream stream, CUcontext *out, CUgreenCtx *green),
	    0, get_context(STREAM, out, green));
DRIVER_PTSZ(cuStreamWaitEvent, SIM_OTHER, (CUstream stream, CUevent event, unsigned int flags),
	    0, ((void)flags, wait_event(STREAM, checked(event))));
DRIVER_PTSZ(cuStreamAddCallback, SIM_OTHER, (CUstream stream, CUstreamCallback callback,
					     void *argument, unsigned int flags), 0,
	    ((void)flags, add_callback(STREAM, stream, callback, argument)));
DRIVER_PTSZ(cuLaunchHostFunc, SIM_OTHER, (CUstream stream, CUhostFn function, void *argument), 0,
	    run_host(&call, stream, function, argument));
DRIVER_PTSZ(cuStreamAttachMemAsync, SIM_OTHER, (CUstream stream, CUdeviceptr address,
						size_t size, unsigned int flags), 0,
	    ((void)address, (void)size, (void)flags,
	     STREAM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE));
DRIVER_PTSZ(cuMemPrefetchAsync, SIM_OTHER, (CUdeviceptr address, size_t size, CUdevice device,
					    CUstream stream), 0,
	    ((void)address, (void)size, (void)device,
	     STREAM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE));
DRIVER_PTSZ(cuMemPrefetchAsync_v2, SIM_OTHER, (CUdeviceptr address, size_t size,
					       CUmemLocation location, unsigned int flags,
					       CUstream stream), 0,
	    ((void)address, (void)size, (void)location, (void)flags,
	     STREAM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE));
DRIVER(cuCtxSynchronize, SIM_SYNC, (void), 0, stream__wait_context(driver__context()));
DRIVER(cuCtxSynchronize_v2, SIM_SYNC, (CUcontext context), 0,
       stream__wait_context(pool__holds(driver.contexts, context) ? context : NULL));

DRIVER(cuEventCreate, SIM_OTHER, (CUevent *out, unsigned int flags), 0,
       create_event(out, flags));
DRIVER(cuEventDestroy, SIM_OTHER, (CUevent event), 0, destroy_event(event));
DRIVER(cuEventDestroy_v2, SIM_OTHER, (CUevent event), 0, destroy_event(event));
DRIVER_PTSZ(cuEventRecord, SIM_OTHER, (CUevent event, CUstream stream), 0,
	    record(checked(event), STREAM));
DRIVER_PTSZ(cuEventRecordWithFlags, SIM_OTHER, (CUevent event, CUstream stream,
						unsigned int flags), 0,
	    ((void)flags, record(checked(event), STREAM)));
DRIVER(cuEventQuery, SIM_OTHER, (CUevent event), 0, query_event(checked(event)));
DRIVER(cuEventSynchronize, SIM_SYNC, (CUevent event), 0, synchronize_event(checked(event)));
DRIVER(cuEventElapsedTime, SIM_OTHER, (float *out, CUevent start, CUevent end), 0,
       elapsed(out, checked(start), checked(end)));
DRIVER(cuEventElapsedTime_v2, SIM_OTHER, (float *out, CUevent start, CUevent end), 0,
       elapsed(out, checked(start), checked(end)));
