// SPDX-License-Identifier: BSD-2-Clause
// Faults of launching: too many short kernels, graphs that are rebuilt.
#include "faults.h"

#define LOADS 4

#define ROUNDS 100	/* of all kernels, between two waits */
#define GRAPH_ROUNDS 8

/* A graph of all kernels, and its executable form. */
struct sequence {
	cudaGraph_t graph;
	cudaGraphExec_t exec;
};

static struct sequence capture(struct run *run)
{
	struct sequence sequence;

	NEED(cudaStreamBeginCapture(run->stream, cudaStreamCaptureModeThreadLocal));
	run__launch(run, FAULT_KERNELS);
	NEED(cudaStreamEndCapture(run->stream, &sequence.graph));
	NEED(cudaGraphInstantiate(&sequence.exec, sequence.graph, 0));
	return sequence;
}

static void release(struct sequence *sequence)
{
	NEED(cudaGraphExecDestroy(sequence->exec));
	NEED(cudaGraphDestroy(sequence->graph));
}

/* Twelve short kernels one after another, with a launch each; fixed: one launch for all. */
static void launch_bound(struct run *run)
{
	struct sequence sequence = capture(run);

	while (run__goes_on(run)) {
		if (run->fixed)
			for (int i = 0; i < GRAPH_ROUNDS; i++)
				NEED(cudaGraphLaunch(sequence.exec, run->stream));
		else
			run__launch(run, ROUNDS * FAULT_KERNELS);
		run__wait(run);
	}
	release(&sequence);
	run__close(run);
}

/* Captures and instantiates the same graph for each step; fixed: once. */
static void graph_recapture(struct run *run)
{
	struct sequence sequence = { 0 };

	for (uint64_t step = 0; run__goes_on(run); step++) {
		if (!step || !run->fixed) {
			sequence = capture(run);
			run->calls++;
		}
		NEED(cudaGraphLaunch(sequence.exec, run->stream));
		run__wait(run);
		if (!run->fixed)
			release(&sequence);
	}
	if (run->fixed)
		release(&sequence);
	run__close(run);
}

/* Loads four additional modules before the first step; fixed: none. */
static void cold_start(struct run *run)
{
	for (int i = 0; i < LOADS && !run->fixed; i++)
		kernels__load(API_RUNTIME, "more", 1, 0);
	while (run__goes_on(run))
		run__step(run);
	run__close(run);
}

const struct fault launch_faults[] = {
	{ "launch-bound", launch_bound,
	  "12 kernels back to back, for ever; fixed: a graph of them", false,
	  .environment = "CUDA_SIM_LATENCY=cuLaunchKernel=18us,cuGraphLaunch=18us",
	  .options = "--threshold launch-bound.rate=1000/s" },
	{ "graph-recapture", graph_recapture,
	  "a graph captured and instantiated each step; fixed: once", false,
	  .environment =
		  "CUDA_SIM_LATENCY=cuGraphInstantiateWithFlags=300us,cuStreamEndCapture=50us,"
		  "cuGraphExecDestroy=30us" },
	{ "cold-start", cold_start, "loads five modules at the start; fixed: one", false,
	  .environment = "CUDA_SIM_LATENCY=cuLibraryLoadData=200ms",
	  .options = "--threshold cold-start=500ms" },
	{ 0 },
};
