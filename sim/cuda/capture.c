// SPDX-License-Identifier: BSD-2-Clause
/*
 * Captures: work submitted to a capturing stream becomes a node of a graph. Other streams join by
 * waiting for an event of the capture; all leave it when the stream that began it ends it.
 */
#include "cuda/graph.h"

struct CUgraph_st *stream__slow_capture(struct CUstream_st *stream)
{
	struct CUgraph_st *graph = graph__get(stream->capture);

	if (graph && __atomic_load_n(&graph->capture_id, __ATOMIC_ACQUIRE) == stream->capture_id)
		return graph;
	stream->capture = NULL;
	stream->origin = NULL;
	stream->last = NULL;
	return NULL;
}

struct CUgraphNode_st *capture__add(struct CUstream_st *stream, CUgraphNodeType type)
{
	struct CUgraphNode_st *node = NULL;

	graph__add_after(&node, stream->capture, type, &stream->last, stream->last ? 1 : 0);
	if (node)
		stream->last = node;
	return node;
}

int capture__join(struct CUstream_st *stream, struct CUevent_st *event)
{
	struct CUgraph_st *graph = graph__get(event->capture);

	if (!graph || graph->capture_id != event->capture_id)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (stream__capture(stream))
		return stream->capture_id == event->capture_id ? CUDA_SUCCESS :
								 CUDA_ERROR_STREAM_CAPTURE_MERGE;
	if (stream == stream->context->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	stream->capture_id = event->capture_id;
	stream->origin = event->stream;
	stream->last = event->node;
	__atomic_store_n(&stream->capture, graph, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

static int begin(struct CUstream_st *stream, struct CUgraph_st *graph, CUstreamCaptureMode mode)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!graph || mode < 0 || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream == stream->context->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream__capture(stream) || graph->capture_id)
		return CUDA_ERROR_ILLEGAL_STATE;
	graph->mode = mode;
	graph->thread = &driver_thread;
	stream->capture_id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	stream->origin = NULL;
	stream->last = NULL;
	__atomic_store_n(&graph->capture_id, stream->capture_id, __ATOMIC_RELEASE);
	__atomic_store_n(&stream->capture, graph, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

static int begin_new(struct CUstream_st *stream, CUstreamCaptureMode mode)
{
	struct CUgraph_st *graph = graph__new();
	int result;

	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = begin(stream, graph, mode);
	if (result)
		graph__free(graph);
	else
		graph->anonymous = true;
	return result;
}

static int end(struct CUstream_st *stream, CUgraph *out)
{
	struct CUgraph_st *graph;

	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	graph = stream__capture(stream);
	if (!graph)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (stream->origin)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (graph->mode != CU_STREAM_CAPTURE_MODE_RELAXED && graph->thread != &driver_thread)
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	/* This takes all streams out of the capture. */
	__atomic_store_n(&graph->capture_id, 0, __ATOMIC_RELEASE);
	if (graph->anonymous)
		driver__created(SIM_GRAPH);
	graph->anonymous = false;
	*out = graph;
	return CUDA_SUCCESS;
}

static int is_capturing(struct CUstream_st *stream, CUstreamCaptureStatus *out)
{
	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = stream__capture(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE :
					 CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

static int capture_info(struct CUstream_st *stream, CUstreamCaptureStatus *status,
			cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
			size_t *count)
{
	int result = is_capturing(stream, status);

	if (result)
		return result;
	if (id)
		*id = stream->capture ? stream->capture_id : 0;
	if (graph)
		*graph = stream->capture;
	if (dependencies)
		*dependencies = &stream->last;
	if (count)
		*count = stream->last ? 1 : 0;
	return CUDA_SUCCESS;
}

static bool depend(struct CUstream_st *stream, const CUgraphNode *dependencies, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!dependencies || !node__get(dependencies[i]) ||
		    dependencies[i]->graph != stream->capture)
			return false;
	stream->last = count ? dependencies[count - 1] : NULL;
	return true;
}

/* Captures into a graph that the program already has. */
static int begin_in(struct CUstream_st *stream, struct CUgraph_st *graph,
		    const CUgraphNode *dependencies, size_t count, CUstreamCaptureMode mode)
{
	int result = begin(stream, graph, mode);

	if (!result && !depend(stream, dependencies, count)) {
		__atomic_store_n(&graph->capture_id, 0, __ATOMIC_RELEASE);
		result = CUDA_ERROR_INVALID_VALUE;
	}
	return result;
}

static int update_dependencies(struct CUstream_st *stream, const CUgraphNode *dependencies,
			       size_t count)
{
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!stream__capture(stream))
		return CUDA_ERROR_ILLEGAL_STATE;
	return depend(stream, dependencies, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int exchange_mode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = driver_thread.capture_mode;

	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	driver_thread.capture_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

#define STREAM stream__get(&call, stream)

DRIVER_PTSZ(cuStreamBeginCapture_v2, SIM_OTHER, (CUstream stream, CUstreamCaptureMode mode), 0,
	    begin_new(STREAM, mode));
DRIVER_PTSZ(cuStreamEndCapture, SIM_OTHER, (CUstream stream, CUgraph *out), 0,
	    end(STREAM, out));
DRIVER_PTSZ(cuStreamIsCapturing, SIM_OTHER, (CUstream stream, CUstreamCaptureStatus *out), 0,
	    is_capturing(STREAM, out));
DRIVER_PTSZ(cuStreamGetCaptureInfo_v2, SIM_OTHER,
	    (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	     const CUgraphNode **dependencies, size_t *count), 0,
	    capture_info(STREAM, status, id, graph, dependencies, count));
DRIVER_PTSZ(cuStreamGetCaptureInfo_v3, SIM_OTHER,
	    (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	     const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count), 0,
	    ((void)edges, capture_info(STREAM, status, id, graph, dependencies, count)));
DRIVER_PLAIN(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode),
	     exchange_mode(mode));
DRIVER_PTSZ(cuStreamBeginCapture, SIM_OTHER, (CUstream stream), 0,
	    begin_new(STREAM, CU_STREAM_CAPTURE_MODE_GLOBAL));
DRIVER_PTSZ(cuStreamBeginCaptureToGraph, SIM_OTHER,
	    (CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
	     const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode), 0,
	    ((void)edges, begin_in(STREAM, graph__get(graph), dependencies, count, mode)));
DRIVER_PTSZ(cuStreamGetCaptureInfo, SIM_OTHER,
	    (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id), 0,
	    capture_info(STREAM, status, id, NULL, NULL, NULL));
DRIVER_PTSZ(cuStreamUpdateCaptureDependencies, SIM_OTHER,
	    (CUstream stream, CUgraphNode *dependencies, size_t count, unsigned int flags), 0,
	    ((void)flags, update_dependencies(STREAM, dependencies, count)));
DRIVER_PTSZ(cuStreamUpdateCaptureDependencies_v2, SIM_OTHER,
	    (CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *edges,
	     size_t count, unsigned int flags), 0,
	    ((void)edges, (void)flags, update_dependencies(STREAM, dependencies, count)));
