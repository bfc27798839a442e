// SPDX-License-Identifier: BSD-2-Clause
/* The device clock: the duration of graphs. */
#include "clock.h"

#define GRAPH_TIMES TIMES ",graph_node=500us"

static CUgraph captured(CUstream stream, CUdeviceptr address)
{
	CUgraph graph;

	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	launch(second, stream);
	OK(cuMemsetD8Async(address, 0, 1000, stream));
	OK(cuMemcpyDtoDAsync(address, address, 100, stream));
	OK(cuStreamEndCapture(stream, &graph));
	return graph;
}

/* 1 ms, 4 ms + 1000 ns and 2 ms + 1000 ns, and 500 us per node. */
#define GRAPH_NS (1e6 + 4e6 + 1000 + 2e6 + 1000 + 3 * 5e5)

static double graph_ns(CUgraphExec exec, CUstream stream, CUevent after)
{
	do {
		hold(stream);
		OK(cuGraphLaunch(exec, stream));
		OK(cuEventRecord(after, stream));
	} while (!ended());
	return between(held, after);
}

static void test_graphs(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
		 other = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent after = new_event();
	CUgraph graph, outer;
	CUgraphExec exec, whole;
	CUgraphNode nodes[3];
	CUdeviceptr address;
	size_t count = 3;

	OK(cuMemAlloc(&address, 1000));
	graph = captured(stream, address);
	TOLD(0, "devices", "0", "busy", "ns");
	OK(cuGraphInstantiate(&exec, graph, 0));
	EXPECT(graph_ns(exec, stream, after) == GRAPH_NS);
	OK(cuGraphGetNodes(graph, nodes, &count));
	OK(cuGraphNodeSetEnabled(exec, nodes[0], 0));
	EXPECT(graph_ns(exec, stream, after) == GRAPH_NS - 15e5);
	OK(cuGraphNodeSetEnabled(exec, nodes[0], 1));
	/* A child graph, a launch that was captured, and an event that the graph waits for. */
	OK(cuGraphCreate(&outer, 0));
	OK(cuGraphAddChildGraphNode(&nodes[0], outer, NULL, 0, graph));
	OK(cuGraphAddEventWaitNode(&nodes[1], outer, NULL, 0, held));
	OK(cuGraphInstantiate(&whole, outer, 0));
	EXPECT(graph_ns(whole, stream, after) == GRAPH_NS);
	do {
		hold(other);
		OK(cuGraphLaunch(whole, stream));
		OK(cuEventRecord(after, stream));
	} while (!ended());
	EXPECT(between(held, after) == GRAPH_NS);
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamEndCapture(stream, &outer));
	OK(cuGraphInstantiate(&whole, outer, 0));
	EXPECT(graph_ns(whole, stream, after) == 2 * GRAPH_NS);
}

/* Changes to an instantiated graph, and the contents of a clone. */
static void test_graph_changes(void)
{
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	CUDA_KERNEL_NODE_PARAMS params;
	CUgraph graph, launches, clone;
	CUevent after = new_event();
	CUgraphExec exec, whole;
	CUgraphNode nodes[3];
	CUdeviceptr address;
	size_t count = 3;

	OK(cuMemAlloc(&address, 1000));
	graph = captured(stream, address);
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamEndCapture(stream, &launches));
	OK(cuGraphClone(&clone, launches));
	OK(cuGraphInstantiate(&whole, clone, 0));
	EXPECT(graph_ns(whole, stream, after) == GRAPH_NS);
	OK(cuGraphGetNodes(graph, nodes, &count));
	OK(cuGraphKernelNodeGetParams(nodes[0], &params));
	params.func = first;
	OK(cuGraphExecKernelNodeSetParams(exec, nodes[0], &params));
	EXPECT(graph_ns(exec, stream, after) > HOLD_NS);
	OK(cuGraphExecUpdate(exec, graph, &(CUgraphExecUpdateResultInfo){ 0 }));
	EXPECT(graph_ns(exec, stream, after) == GRAPH_NS);
}

/* The parameters of nodes that were not captured determine the bytes. */
static void test_graph_parameters(void)
{
	CUDA_MEMSET_NODE_PARAMS set = { .elementSize = 4, .width = 100, .height = 2, .pitch = 400 };
	CUDA_MEMCPY3D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.WidthInBytes = 50, .Height = 2, .Depth = 3
	};
	CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
	CUevent after = new_event();
	CUcontext context;
	CUgraphExec exec;
	CUgraphNode node;
	CUgraph graph;

	OK(cuCtxGetCurrent(&context));
	OK(cuMemAlloc(&set.dst, 1000));
	copy.srcDevice = copy.dstDevice = set.dst;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
	OK(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, context));
	OK(cuGraphInstantiate(&exec, graph, 0));
	EXPECT(graph_ns(exec, stream, after) == 4e6 + 800 + 2e6 + 3000 + 2 * 5e5);
}

CASE(graphs);
CASE(graph_changes);
CASE(graph_parameters);

const struct test clock_graph_tests[] = {
	{ "clock_graphs", clock_graphs, CLOCK, GRAPH_TIMES },
	{ "clock_graph_changes", clock_graph_changes, CLOCK, GRAPH_TIMES },
	{ "clock_graph_parameters", clock_graph_parameters, CLOCK, GRAPH_TIMES },
	{ NULL, NULL, NULL, NULL },
};
