// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs, captured from one stream or from two that join, or built node by
 * node; instantiated, launched some times, and destroyed now or later.
 */
#include "mix.h"

static void fill(struct actor *actor, CUstream stream)
{
	for (uint32_t i = actor__below(actor, 5); i; i--) {
		switch (actor__below(actor, 4)) {
		case 0:
			copy__enqueue(actor, stream);
			break;
		default:
			launch__enqueue(actor, stream);
		}
	}
}

/* Another stream joins the capture and comes back to it. */
static void fork_and_join(struct actor *actor, CUstream stream)
{
	struct stream_slot *other = stream__own(actor);
	CUevent event = event__pick(actor);

	if (!other || !event || cuEventRecord(event, stream))
		return;
	if (cuStreamWaitEvent(other->stream, event, 0))
		return;
	fill(actor, other->stream);
	if (!cuEventRecord(event, other->stream))
		(void)cuStreamWaitEvent(stream, event, 0);
}

static void launch_one(struct actor *actor, CUstream stream)
{
	CUgraphExec exec = PICK(actor, actor->execs).exec;

	if (!exec)
		return;
	if (actor__at_runtime(actor))
		(void)cudaGraphLaunch((cudaGraphExec_t)exec, (cudaStream_t)stream);
	else if (actor__chance(actor, 3))
		(void)cuGraphLaunch_ptsz(exec, stream);
	else
		(void)cuGraphLaunch(exec, stream);
}

static CUgraph capture(struct actor *actor)
{
	struct stream_slot *slot = stream__own(actor);
	CUgraph graph = NULL;
	int result;

	if (!slot)
		return NULL;
	result = actor__at_runtime(actor) ?
			 (int)cudaStreamBeginCapture((cudaStream_t)slot->stream,
						     cudaStreamCaptureModeRelaxed) :
			 (int)cuStreamBeginCapture(slot->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	if (result)
		return NULL;
	slot->capturing = true;
	fill(actor, slot->stream);
	if (actor__chance(actor, 3))
		fork_and_join(actor, slot->stream);
	if (actor__chance(actor, 6))
		launch_one(actor, slot->stream);	/* becomes a child */
	for (int tries = 0; tries < 100; tries++) {
		result = actor__at_runtime(actor) ?
				 (int)cudaStreamEndCapture((cudaStream_t)slot->stream,
							   (cudaGraph_t *)&graph) :
				 (int)cuStreamEndCapture(slot->stream, &graph);
		if (!result)
			break;
	}
	slot->capturing = result != 0;
	return result ? NULL : graph;
}

static CUgraph build(struct actor *actor)
{
	CUDA_KERNEL_NODE_PARAMS params = {
		.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
	};
	CUgraphNode node;
	CUgraph graph;

	if (cuGraphCreate(&graph, 0))
		return NULL;
	for (uint32_t i = actor__below(actor, 5); i; i--) {
		params.kern = PICK(actor, actor->mix->kernels);
		if (actor__chance(actor, 4))
			(void)cuGraphAddEmptyNode(&node, graph, NULL, 0);
		else
			(void)cuGraphAddKernelNode(&node, graph, NULL, 0, &params);
	}
	return graph;
}

static int instantiate(struct actor *actor, CUgraphExec *out, CUgraph graph)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = { 0 };

	if (actor__at_runtime(actor))
		return (int)cudaGraphInstantiate((cudaGraphExec_t *)out, (cudaGraph_t)graph, 0);
	if (actor__chance(actor, 3))
		return (int)cuGraphInstantiateWithParams(out, graph, &params);
	return (int)cuGraphInstantiateWithFlags(out, graph, 0);
}

static void destroy_exec(struct actor *actor, struct exec_slot *slot)
{
	int result = actor__at_runtime(actor) ?
			     (int)cudaGraphExecDestroy((cudaGraphExec_t)slot->exec) :
			     (int)cuGraphExecDestroy(slot->exec);

	if (!result)
		slot->exec = NULL;
}

static void make(struct actor *actor, struct exec_slot *slot)
{
	CUgraph graph = actor__chance(actor, 3) ? build(actor) : capture(actor);
	CUgraphExec exec;

	if (!graph)
		return;
	if (!instantiate(actor, &exec, graph))
		slot->exec = exec;
	(void)(actor__at_runtime(actor) ? (int)cudaGraphDestroy((cudaGraph_t)graph) :
					  (int)cuGraphDestroy(graph));
}

void graph__act(struct actor *actor)
{
	struct exec_slot *slot = &PICK(actor, actor->execs);

	if (!slot->exec)
		make(actor, slot);
	else if (actor__chance(actor, 4))
		destroy_exec(actor, slot);
	for (uint32_t i = actor__below(actor, 5); i; i--)
		launch_one(actor, stream__pick(actor));
}
