// SPDX-License-Identifier: BSD-2-Clause
// Measures the constants by which savings are estimated: the cost of a wait with nothing to wait
// for, of a launch, of a graph launch, and of a kernel inside a graph. Prints one JSON object, in
// nanoseconds. See case.h.
#include "case.h"

#define VALUES ((size_t)16384)
#define WAITS 100000
#define ROUNDS 200
#define LAUNCHES 500 /* per round: fewer than a queue holds */

static double each_ns(double began, unsigned int count)
{
	return (case_seconds() - began) * 1e9 / count;
}

static double wait_ns(cudaStream_t stream)
{
	double began;

	CHECK(cudaStreamSynchronize(stream));
	began = case_seconds();
	for (unsigned int i = 0; i < WAITS; i++)
		CHECK(cudaStreamSynchronize(stream));
	return each_ns(began, WAITS);
}

static void launch_all(void *values, cudaStream_t stream)
{
	for (int i = 0; i < LAUNCHES; i++)
		case_launch(values, VALUES, stream);
}

/* Time inside the calls; `whole_ns` is the time until the GPU has finished. */
static double launch_ns(void *values, cudaStream_t stream, double *whole_ns)
{
	double inside = 0, began, all = case_seconds();

	for (int i = 0; i < ROUNDS; i++) {
		began = case_seconds();
		launch_all(values, stream);
		inside += case_seconds() - began;
		CHECK(cudaStreamSynchronize(stream));
	}
	*whole_ns = each_ns(all, ROUNDS * LAUNCHES);
	return inside * 1e9 / (ROUNDS * LAUNCHES);
}

static double graph_ns(void *values, cudaStream_t stream, double *kernel_ns)
{
	double inside = 0, began, all;
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launch_all(values, stream);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&executable, graph, 0));
	CHECK(cudaGraphLaunch(executable, stream));
	CHECK(cudaStreamSynchronize(stream));
	all = case_seconds();
	for (int i = 0; i < ROUNDS; i++) {
		began = case_seconds();
		CHECK(cudaGraphLaunch(executable, stream));
		inside += case_seconds() - began;
		CHECK(cudaStreamSynchronize(stream));
	}
	*kernel_ns = each_ns(all, ROUNDS * LAUNCHES);
	CHECK(cudaGraphExecDestroy(executable));
	CHECK(cudaGraphDestroy(graph));
	return inside * 1e9 / ROUNDS;
}

int main(void)
{
	double launch, launched, graph, kernel;
	cudaStream_t stream;
	void *values;

	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMalloc(&values, VALUES));
	CHECK(cudaMemset(values, 0, VALUES));
	launch_ns(values, stream, &launched); /* to warm up */
	launch = launch_ns(values, stream, &launched);
	graph = graph_ns(values, stream, &kernel);
	printf("{\"empty_wait_ns\": %.0f, \"launch_ns\": %.0f, \"launched_kernel_ns\": %.0f, "
	       "\"graph_launch_ns\": %.0f, \"graph_kernel_ns\": %.0f}\n",
	       wait_ns(stream), launch, launched, graph, kernel);
	return 0;
}
