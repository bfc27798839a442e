// SPDX-License-Identifier: BSD-2-Clause
// A case study: steps of many small kernels, launched one by one, or as a graph captured once. See
// case.h.
#include "case.h"

#define VALUES ((size_t)16384)
#define LAUNCHES 100 /* per step */
#define STEPS_PER_WAIT 100

static void launch_all(void *values, cudaStream_t stream)
{
	for (int i = 0; i < LAUNCHES; i++)
		case_launch(values, VALUES, stream);
}

static cudaGraphExec_t capture(void *values, cudaStream_t stream)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launch_all(values, stream);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&executable, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return executable;
}

static double run(bool fixed, unsigned int steps)
{
	cudaGraphExec_t executable = NULL;
	cudaStream_t stream;
	void *values;
	double began, took;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&values, VALUES));
	CHECK(cudaMemset(values, 0, VALUES));
	CHECK(cudaDeviceSynchronize());
	began = case_seconds();
	if (fixed)
		executable = capture(values, stream);
	for (unsigned int i = 1; i <= steps; i++) {
		if (fixed)
			CHECK(cudaGraphLaunch(executable, stream));
		else
			launch_all(values, stream);
		if (i % STEPS_PER_WAIT == 0 || i == steps)
			CHECK(cudaStreamSynchronize(stream));
	}
	took = case_seconds() - began;
	if (fixed)
		CHECK(cudaGraphExecDestroy(executable));
	CHECK(cudaFree(values));
	CHECK(cudaStreamDestroy(stream));
	return took;
}

int main(int argc, char **argv)
{
	return case_main(argc, argv, run);
}
