// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs, captured from one stream or from two that join, or built node by node; instantiated,
 * launched several times, and destroyed now or later.
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

/* Another stream joins the capture, and this one waits for it. */
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

static void nothing(void *argument)
{
	(void)argument;
}

static void add_kernel(struct actor *actor, CUgraph graph, CUgraphNode *node)
{
	CUDA_KERNEL_NODE_PARAMS params = {
		.gridDimX = 1 + actor__below(actor, 9), .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 32, .blockDimY = 1, .blockDimZ = 1,
		.kern = PICK(actor, actor->mix->kernels),
	};

	(void)cuGraphAddKernelNode(node, graph, NULL, 0, &params);
}

/* Adds a child graph, which is copied into the graph. */
static void add_child(struct actor *actor, CUgraph graph, CUgraphNode *node)
{
	CUgraph child;

	if (cuGraphCreate(&child, 0))
		return;
	for (uint32_t i = actor__below(actor, 4); i; i--)
		add_kernel(actor, child, node);
	(void)cuGraphAddChildGraphNode(node, graph, NULL, 0, child);
	(void)cuGraphDestroy(child);
}

static void add_node(struct actor *actor, CUgraph graph)
{
	const struct holding *holding = memory__pick(actor, 1u << HOLD_DEVICE);
	CUDA_HOST_NODE_PARAMS host = { .fn = nothing };
	CUDA_MEMSET_NODE_PARAMS set = { .elementSize = 1, .width = 1, .height = 1 };
	CUgraphNode node = NULL;

	switch (actor__below(actor, 8)) {
	case 0:
		(void)cuGraphAddEmptyNode(&node, graph, NULL, 0);
		return;
	case 1:
		(void)cuGraphAddHostNode(&node, graph, NULL, 0, &host);
		return;
	case 2:
		set.dst = holding ? holding->address : 0;
		(void)cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, actor->mix->primary[0]);
		return;
	case 3:
		add_child(actor, graph, &node);
		return;
	default:
		add_kernel(actor, graph, &node);
	}
	if (node && actor__chance(actor, 10))
		(void)cuGraphDestroyNode(node);
}

static CUgraph build(struct actor *actor)
{
	CUgraph graph, copy;

	if (cuGraphCreate(&graph, 0))
		return NULL;
	for (uint32_t i = actor__below(actor, 6); i; i--)
		add_node(actor, graph);
	if (!actor__chance(actor, 4) || cuGraphClone(&copy, graph))
		return graph;
	(void)cuGraphDestroy(graph);
	return copy;
}

/* Changes an instantiated graph: disables a node, or updates it from another graph. */
static void change(struct actor *actor, CUgraphExec exec, CUgraph graph)
{
	CUgraphExecUpdateResultInfo info;
	CUgraphNode nodes[8];
	size_t count = 8;

	if (!actor__chance(actor, 20)) {
		(void)cuGraphExecUpdate(exec, graph, &info);
		return;
	}
	if (!cuGraphGetNodes(graph, nodes, &count) && count && count <= 8)
		(void)cuGraphNodeSetEnabled(exec, nodes[actor__below(actor, (uint32_t)count)],
					    actor__below(actor, 2));
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
	if (!instantiate(actor, &exec, graph)) {
		slot->exec = exec;
		if (actor__chance(actor, 3))
			change(actor, exec, graph);
	}
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
