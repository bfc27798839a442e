// SPDX-License-Identifier: BSD-2-Clause
/*
 * Streams, events and contexts come and go; waits and queries of every scope; the device changes.
 */
#include "mix.h"

#include <string.h>

struct stream_slot *stream__own(struct actor *actor)
{
	uint32_t start = actor__below(actor, MIX_STREAMS);

	for (uint32_t i = 0; i < MIX_STREAMS; i++) {
		struct stream_slot *slot = &actor->streams[(start + i) % MIX_STREAMS];

		if (slot->stream && !slot->capturing && home__is_here(actor, &slot->home))
			return slot;
	}
	return NULL;
}

CUstream stream__pick(struct actor *actor)
{
	struct stream_slot *slot = actor__chance(actor, 3) ? NULL : stream__own(actor);

	/* NULL, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD */
	return slot ? slot->stream : (CUstream)(uintptr_t)actor__below(actor, 3);
}

CUevent event__pick(struct actor *actor)
{
	uint32_t start = actor__below(actor, MIX_EVENTS);

	for (uint32_t i = 0; i < MIX_EVENTS; i++) {
		struct event_slot *slot = &actor->events[(start + i) % MIX_EVENTS];

		if (slot->event && home__is_here(actor, &slot->home))
			return slot->event;
	}
	return NULL;
}

static int create_stream(struct actor *actor, CUstream *out)
{
	if (actor__at_runtime(actor)) {
		switch (actor__below(actor, 3)) {
		case 0:
			return (int)cudaStreamCreate((cudaStream_t *)out);
		case 1:
			return (int)cudaStreamCreateWithFlags((cudaStream_t *)out, 1);
		default:
			return (int)cudaStreamCreateWithPriority((cudaStream_t *)out, 1, -1);
		}
	}
	return actor__chance(actor, 2) ? (int)cuStreamCreate(out, 1) :
					 (int)cuStreamCreateWithPriority(out, 1, 0);
}

void stream__act(struct actor *actor)
{
	struct stream_slot *slot = &PICK(actor, actor->streams);
	CUgraph graph;
	int result;

	if (!slot->stream) {
		result = create_stream(actor, &slot->stream);
		if (result) {
			slot->stream = NULL;
			return;
		}
		if (actor->here.device < 0)
			actor__find_here(actor);
		slot->home = actor->here;
		return;
	}
	if (slot->capturing) {		/* left in that state by a jump or a thread's end */
		if (!cuStreamEndCapture(slot->stream, &graph)) {
			slot->capturing = false;
			(void)cuGraphDestroy(graph);
		}
		return;
	}
	result = actor__at_runtime(actor) ? (int)cudaStreamDestroy((cudaStream_t)slot->stream) :
					    (int)cuStreamDestroy(slot->stream);
	if (!result)
		*slot = (struct stream_slot){ 0 };
}

static void record(struct actor *actor, CUevent event)
{
	CUstream stream = stream__pick(actor);

	switch (actor__below(actor, 4)) {
	case 0:
		(void)cuEventRecordWithFlags(event, stream, 0);
		return;
	case 1:
		(void)cuEventRecord_ptsz(event, stream);
		return;
	default:
		(void)(actor__at_runtime(actor) ?
			       (int)cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream) :
			       (int)cuEventRecord(event, stream));
	}
}

void event__act(struct actor *actor)
{
	struct event_slot *slot = &PICK(actor, actor->events);
	int result;

	if (!slot->event) {
		result = actor__at_runtime(actor) ?
				 (int)cudaEventCreateWithFlags((cudaEvent_t *)&slot->event, 2) :
				 (int)cuEventCreate(&slot->event, 2);
		if (result) {
			slot->event = NULL;
			return;
		}
		if (actor->here.device < 0)
			actor__find_here(actor);
		slot->home = actor->here;
	} else if (actor__chance(actor, 4)) {
		result = actor__at_runtime(actor) ?
				 (int)cudaEventDestroy((cudaEvent_t)slot->event) :
				 (int)cuEventDestroy(slot->event);
		if (!result)
			*slot = (struct event_slot){ 0 };
	} else if (home__is_here(actor, &slot->home)) {
		record(actor, slot->event);
	}
}

static void wait_stream(struct actor *actor, CUstream stream)
{
	bool query = actor__chance(actor, 2), per_thread = actor__chance(actor, 4);

	if (actor__at_runtime(actor)) {
		(void)(query ? (int)cudaStreamQuery((cudaStream_t)stream) :
			       (int)cudaStreamSynchronize((cudaStream_t)stream));
		return;
	}
	if (query)
		(void)(per_thread ? cuStreamQuery_ptsz(stream) : cuStreamQuery(stream));
	else
		(void)(per_thread ? cuStreamSynchronize_ptsz(stream) : cuStreamSynchronize(stream));
}

static void wait_event(struct actor *actor)
{
	CUevent event = event__pick(actor);
	bool query = actor__chance(actor, 2);

	if (!event)
		return;
	if (actor__at_runtime(actor))
		(void)(query ? (int)cudaEventQuery((cudaEvent_t)event) :
			       (int)cudaEventSynchronize((cudaEvent_t)event));
	else
		(void)(query ? (int)cuEventQuery(event) : (int)cuEventSynchronize(event));
}

void wait__act(struct actor *actor)
{
	CUevent event;

	switch (actor__below(actor, 6)) {
	case 0:
		(void)(actor__at_runtime(actor) ? (int)cudaDeviceSynchronize() :
						  (int)cuCtxSynchronize());
		return;
	case 1:
	case 2:
		wait_event(actor);
		return;
	case 3:
		event = event__pick(actor);
		if (event)
			(void)cuStreamWaitEvent(stream__pick(actor), event, 0);
		return;
	default:
		wait_stream(actor, stream__pick(actor));
	}
}

void device__act(struct actor *actor)
{
	int device = (int)actor__below(actor, (uint32_t)actor->mix->nr_devices);

	if (actor__at_runtime(actor))
		(void)cudaSetDevice(actor__chance(actor, 50) ? 99 : device);
	else if (actor__chance(actor, 50))
		(void)cuCtxSetCurrent((CUcontext)(uintptr_t)0x10);
	else
		(void)cuCtxSetCurrent(actor->mix->primary[device]);
	actor__find_here(actor);
}

/* Actions in an own context; much of their results is left in it. */
static void live_in_context(struct actor *actor)
{
	static void (*const acts[])(struct actor *) = {
		memory__allocate, memory__allocate, memory__act, stream__act, event__act,
		launch__act, copy__act, set__act, wait__act,
	};

	for (uint32_t i = 2 + actor__below(actor, 12); i; i--)
		PICK(actor, acts)(actor);
	if (actor__chance(actor, 4))
		module__act(actor);
}

static void forget_context(struct actor *actor, uint64_t number)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < actor->nr_held; i++) {
		const struct holding *holding = &actor->held[i];

		if (holding->home.context != number || holding->kind == HOLD_POOL)
			actor->held[kept++] = *holding;
		else
			memory__forget(holding);
	}
	actor->nr_held = kept;
	for (int i = 0; i < MIX_STREAMS; i++)
		if (actor->streams[i].home.context == number)
			actor->streams[i] = (struct stream_slot){ 0 };
	for (int i = 0; i < MIX_EVENTS; i++)
		if (actor->events[i].home.context == number)
			actor->events[i] = (struct event_slot){ 0 };
	for (int i = 0; i < MIX_MODULES; i++)
		if (actor->modules[i].home.context == number)
			actor->modules[i] = (struct module_slot){ 0 };
}

/* A library does not belong to a context: it is moved out of it, so that it is unloaded later. */
static void keep_libraries(struct actor *actor, uint64_t number, const struct home *outside)
{
	for (int i = 0; i < MIX_MODULES; i++) {
		struct module_slot *slot = &actor->modules[i];

		if (slot->library && slot->home.context == number) {
			slot->home = *outside;
			slot->count = 0;
		}
	}
}

void context__act(struct actor *actor)
{
	struct home outside = actor->here;
	CUctxCreateParams params = { 0 };
	CUcontext context, popped;
	int device = (int)actor__below(actor, (uint32_t)actor->mix->nr_devices), result;

	result = actor__chance(actor, 2) ? (int)cuCtxCreate(&context, &params, 0, device) :
					   (int)cuCtxCreate_v2(&context, 0, device);
	if (result)
		return;
	actor->here = (struct home){ device, actor->mix->generations[device],
				     ++actor->contexts_made };
	live_in_context(actor);
	if (actor__chance(actor, 2)) {		/* destroys it while it is not current */
		do
			result = (int)cuCtxPopCurrent(&popped);
		while (result);
	}
	do
		result = (int)cuCtxDestroy(context);
	while (result);
	keep_libraries(actor, actor->contexts_made, &outside);
	forget_context(actor, actor->contexts_made);
	actor->here = outside;
}
