// SPDX-License-Identifier: BSD-2-Clause
/* Graphs: built by hand and by capture, with both APIs, and how their launches are counted. */
#include "check.h"

static CUfunction kernel_of(const char *name)
{
	CUfunction function;
	CUmodule module;

	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, name));
	return function;
}

static CUDA_KERNEL_NODE_PARAMS launch_of(CUfunction function)
{
	return (CUDA_KERNEL_NODE_PARAMS){
		.func = function, .gridDimX = 2, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 32, .blockDimY = 1, .blockDimZ = 1,
	};
}

static int host_calls;

static void on_host(void *argument)
{
	host_calls += *(int *)argument;
}

/* Two kernels and a child graph with three; then one of the two is disabled, so that four run. */
static void test_by_hand(void)
{
	CUgraphNode first, second, child, host, node, nodes[8];
	CUDA_KERNEL_NODE_PARAMS params, got;
	CUgraph graph, inner, copy;
	unsigned int enabled;
	CUstream stream;
	CUgraphExec exec;
	CUevent event;
	size_t count;
	int one = 1;

	open_driver();
	params = launch_of(kernel_of("first"));
	OK(cuStreamCreate(&stream, 0));
	OK(cuEventCreate(&event, 0));
	OK(cuGraphCreate(&inner, 0));
	for (int i = 0; i < 3; i++)
		OK(cuGraphAddKernelNode(&node, inner, NULL, 0, &params));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddKernelNode(&first, graph, NULL, 0, &params));
	OK(cuGraphAddKernelNode(&second, graph, &first, 1, &params));
	OK(cuGraphAddChildGraphNode(&child, graph, &second, 1, inner));
	OK(cuGraphAddHostNode(&host, graph, &child, 1,
			      &(CUDA_HOST_NODE_PARAMS){ on_host, &one }));
	OK(cuGraphAddEventRecordNode(&node, graph, &host, 1, event));
	OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	FAILS(1, cuGraphAddKernelNode(&node, graph, NULL, 0, &(CUDA_KERNEL_NODE_PARAMS){ 0 }));
	OK(cuGraphDestroy(inner));
	OK(cuGraphChildGraphNodeGetGraph(child, &inner));
	OK(cuGraphGetNodes(inner, NULL, &count));
	EXPECT(count == 3);
	OK(cuGraphGetRootNodes(graph, NULL, &count));
	EXPECT(count == 2);
	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	EXPECT(count == 4);
	count = 8;
	OK(cuGraphNodeGetDependentNodes(first, nodes, NULL, &count));
	EXPECT(count == 1 && nodes[0] == second);
	OK(cuGraphKernelNodeGetParams(second, &got));
	EXPECT(got.func == params.func && got.gridDimX == 2 && got.blockDimX == 32);
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	EXPECT(host_calls == 1);
	OK(cuEventSynchronize(event));
	TOLD(5, "graphs", "kernels");
	OK(cuGraphNodeSetEnabled(exec, second, 0));
	OK(cuGraphNodeGetEnabled(exec, second, &enabled));
	EXPECT(!enabled);
	FAILS(1, cuGraphNodeSetEnabled(exec, child, 0));
	OK(cuGraphLaunch(exec, stream));
	TOLD(9, "graphs", "kernels");
	OK(cuGraphNodeSetEnabled(exec, second, 1));
	OK(cuGraphClone(&copy, graph));
	OK(cuGraphNodeFindInClone(&node, first, copy));
	EXPECT(node != first);
	OK(cuGraphDestroyNode(node));
	FAILS(910, cuGraphExecUpdate(exec, copy, &(CUgraphExecUpdateResultInfo){ 0 }));
	OK(cuGraphExecUpdate(exec, graph, &(CUgraphExecUpdateResultInfo){ 0 }));
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphInstantiate(&exec, copy, 0));
	OK(cuGraphLaunch(exec, stream));
	TOLD(9 + 5 + 4, "graphs", "kernels");
	TOLD(4, "graphs", "launches");
	OK(cuGraphDestroy(copy));
	TOLD(3, "objects", "graph", "created");
	TOLD(1, "objects", "graph", "live");
}

/* The function that adds a node of any type. */
static void test_any_node(void)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_KERNEL };
	CUgraphNodeType type;
	CUgraphNode node, freed;
	CUdeviceptr address;
	CUgraphExec exec;
	CUgraph graph;

	open_driver();
	OK(cuMemAlloc(&address, 4096));
	OK(cuGraphCreate(&graph, 0));
	params.kernel = launch_of(kernel_of("second"));
	OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
	params = (CUgraphNodeParams){ .type = CU_GRAPH_NODE_TYPE_MEMSET };
	params.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
		.dst = address, .elementSize = 1, .width = 4096, .height = 1,
	};
	OK(cuGraphAddNode(&node, graph, &node, NULL, 1, &params));
	OK(cuGraphNodeGetType(node, &type));
	EXPECT(type == CU_GRAPH_NODE_TYPE_MEMSET);
	params = (CUgraphNodeParams){ .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };
	params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	params.alloc.poolProps.location = (CUmemLocation){ CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	params.alloc.bytesize = 1 << 20;
	OK(cuGraphAddNode(&node, graph, &node, NULL, 1, &params));
	EXPECT(params.alloc.dptr);
	OK(cuGraphAddMemFreeNode(&freed, graph, &node, 1, params.alloc.dptr));
	FAILS(1, cuGraphAddMemFreeNode(&freed, graph, &node, 1, address));
	TOLD(4096, "memory", "device", "live_bytes");	/* a graph's allocation has no memory yet */
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphLaunch(exec, NULL));
	TOLD(1, "graphs", "kernels");
}

/* With the runtime, whose structures are converted to the driver's. */
static void test_runtime(void)
{
	struct cudaMemcpy3DParms copy = { .kind = cudaMemcpyHostToDevice, .extent = { 64, 1, 1 } };
	struct cudaKernelNodeParams params = {
		.gridDim = { 1, 1, 1 }, .blockDim = { 64, 1, 1 },
	}, got;
	cudaGraphNode_t kernel, moved, set;
	enum cudaGraphNodeType type;
	cudaGraphExec_t exec;
	static char host[64];
	cudaLibrary_t library;
	cudaStream_t stream;
	cudaGraph_t graph;
	void *address;

	OK(cudaLibraryLoadData(&library, two_kernels, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel((cudaKernel_t *)&params.func, library, "first"));
	OK(cudaMalloc(&address, 64));
	OK(cudaStreamCreate(&stream));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &params));
	copy.srcPtr = (struct cudaPitchedPtr){ host, 64, 64, 1 };
	copy.dstPtr = (struct cudaPitchedPtr){ address, 64, 64, 1 };
	OK(cudaGraphAddMemcpyNode(&moved, graph, &kernel, 1, &copy));
	OK(cudaGraphAddMemsetNode(&set, graph, &moved, 1, &(struct cudaMemsetParams){
		.dst = address, .elementSize = 1, .width = 64, .height = 1 }));
	OK(cudaGraphAddMemcpyNode1D(&moved, graph, &set, 1, address, host, 64,
				    cudaMemcpyHostToDevice));
	OK(cudaGraphMemcpyNodeGetParams(moved, &copy));
	EXPECT(copy.kind == cudaMemcpyHostToDevice && copy.srcPtr.ptr == host &&
	       copy.extent.width == 64);
	OK(cudaGraphKernelNodeGetParams(kernel, &got));
	EXPECT(got.func == params.func && got.blockDim.x == 64);
	OK(cudaGraphNodeGetType(moved, &type));
	EXPECT(type == cudaGraphNodeTypeMemcpy);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 4; i++)
		OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	TOLD(4, "graphs", "kernels");
	TOLD(0, "copies", "driver_from_runtime", "H2D", "async", "calls");
}

/* Captures into an existing graph that allocates memory. */
static void test_capture_to_graph(void)
{
	CUstreamCaptureStatus status;
	CUgraph graph, same;
	CUdeviceptr address;
	CUfunction function;
	CUgraphNode node;
	CUstream stream;
	cuuint64_t id;
	size_t count;

	open_driver();
	function = kernel_of("first");
	OK(cuStreamCreate(&stream, 0));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	OK(cuStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1,
				       CU_STREAM_CAPTURE_MODE_RELAXED));
	FAILS(401, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	OK(cuMemAllocAsync(&address, 4096, stream));
	OK(cuMemsetD8Async(address, 0, 4096, stream));
	OK(cuMemFreeAsync(address, stream));
	OK(cuStreamGetCaptureInfo(stream, &status, &id, &same, NULL, NULL, NULL));
	EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && same == graph);
	OK(cuStreamEndCapture(stream, &same));
	EXPECT(same == graph);
	OK(cuGraphGetNodes(graph, NULL, &count));
	EXPECT(count == 5);
	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	EXPECT(count == 4);
	TOLD(1, "captured", "allocations");
	TOLD(1, "captured", "frees");
	TOLD(0, "memory", "pool", "allocations");
	TOLD(1, "objects", "graph", "created");
}

const struct test graph_tests[] = {
	{ "graphs_by_hand", test_by_hand, NULL, NULL },
	{ "graphs_any_node", test_any_node, NULL, NULL },
	{ "graphs_runtime", test_runtime, NULL, NULL },
	{ "graphs_capture_to_graph", test_capture_to_graph, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};
