// SPDX-License-Identifier: BSD-2-Clause
/*
 * The runtime of CUDA 12: the forms of functions that 13 does not have. Built with
 * CUDART_VERSION=12080 and linked with libcudart.so.12.
 */
#include "cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)								\
	do {										\
		if (!(condition)) {							\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,	\
				#condition);						\
			exit(1);							\
		}									\
	} while (0)
#define OK(call) EXPECT((int)(call) == 0)

static void batches(cudaStream_t stream)
{
	char out[2][16] = { "first", "second" }, in[32];
	struct cudaMemcpyAttributes attributes = { 0 };
	size_t sizes[2] = { 16, 16 }, index = 0, failed = 7;
	void *to[2], *from[2] = { out[0], out[1] }, *device;

	OK(cudaMalloc(&device, 32));
	to[0] = device;
	to[1] = (char *)device + 16;
	OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, &failed, stream));
	OK(cudaMemcpy(in, device, 32, cudaMemcpyDeviceToHost));
	EXPECT(!strcmp(in, "first") && !strcmp(in + 16, "second"));
	to[1] = (char *)device + 24;
	EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, &failed,
				    stream) == cudaErrorInvalidValue);
	EXPECT(failed == 1);
	OK(cudaFree(device));
}

static void graphs(cudaStream_t stream)
{
	struct cudaGraphNodeParams params = { .type = cudaGraphNodeTypeEmpty };
	enum cudaStreamCaptureStatus status;
	cudaGraphNode_t first, second, from[2];
	unsigned long long id;
	cudaGraph_t graph;
	size_t count = 2;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddNode(&first, graph, NULL, 0, &params));
	OK(cudaGraphAddNode_v2(&second, graph, &first, NULL, 1, &params));
	OK(cudaGraphNodeGetDependencies(second, from, &count));
	EXPECT(count == 1 && from[0] == first);
	OK(cudaGraphRemoveDependencies(graph, &first, &second, 1));
	OK(cudaGraphAddDependencies_v2(graph, &first, &second, NULL, 1));
	OK(cudaGraphGetEdges(graph, NULL, NULL, &count));
	EXPECT(count == 1);
	OK(cudaStreamGetCaptureInfo(stream, &status, &id));
	EXPECT(status == cudaStreamCaptureStatusNone);
	OK(cudaGraphDestroy(graph));
}

int main(void)
{
	struct cudaDeviceProp properties;
	cudaStream_t stream;
	void *managed;
	size_t limit;
	int version;

	OK(cudaRuntimeGetVersion(&version));
	EXPECT(version == 12080);
	OK(cudaGetDeviceProperties_v2(&properties, 0));
	EXPECT(properties.multiProcessorCount == 132 && properties.major == 9);
	memset(&properties, 0x5a, sizeof(properties));
	OK(cudaGetDeviceProperties(&properties, 0));
	EXPECT(((char *)&properties)[sizeof(properties) - 1] == 0x5a);
	OK(cudaStreamCreate(&stream));
	OK(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
	OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, 0));
	OK(cudaMemPrefetchAsync(managed, 4096, 0, stream));
	OK(cudaMemPrefetchAsync_v2(managed, 4096, (struct cudaMemLocation){
		cudaMemLocationTypeDevice, 0 }, 0, stream));
	batches(stream);
	graphs(stream);
	OK(cudaThreadGetLimit(&limit, cudaLimitStackSize));
	OK(cudaThreadSynchronize());
	OK(cudaThreadExit());
	EXPECT(cudaFree(managed) == cudaErrorInvalidValue);
	puts("simulated CUDA 12 runtime: passed");
	return 0;
}
