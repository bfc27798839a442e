// SPDX-License-Identifier: BSD-2-Clause
// Faults of memory: churn, leaks, pools that keep unused memory.
#include "faults.h"

#define CHURNED (64ull << 20)
#define LEAKED (1ull << 20)
#define RING 4
#define FORGOTTEN 10	/* one in this many */

/* Allocates a 64 MiB buffer for each step. */
static void alloc_churn(struct run *run)
{
	void *buffer = run->fixed ? device_memory(CHURNED) : NULL;

	while (run__goes_on(run)) {
		if (!run->fixed)
			buffer = device_memory(CHURNED);
		run__step(run);
		if (!run->fixed)
			NEED(cudaFree(buffer));
	}
	if (run->fixed)
		NEED(cudaFree(buffer));
	run__close(run);
}

static void *result_of_step(void)
{
	return device_memory(LEAKED);
}

/* Keeps the results of all steps in a list; the latest four would be enough. */
static void leak_growing(struct run *run)
{
	void *ring[RING] = { NULL };

	for (uint64_t step = 0; run__goes_on(run); step++) {
		void **place = &ring[step % RING];

		if (run->fixed && *place)
			NEED(cudaFree(*place));
		else
			run->bytes += LEAKED;
		*place = result_of_step();
		run__step(run);
		sleep_seconds(0.01);
	}
	for (int i = 0; run->fixed && i < RING; i++)
		NEED(cudaFree(ring[i]));
	run__close(run);
}

/* Frees a result after the next step, but forgets one in ten. */
static void leak_at_exit(struct run *run)
{
	void *before = NULL;

	for (uint64_t step = 0; run__goes_on(run); step++) {
		if (before)
			NEED(cudaFree(before));
		before = result_of_step();
		run__step(run);
		if (step % FORGOTTEN == 0 && !run->fixed) {
			run->bytes += LEAKED;
			before = NULL;
		}
		sleep_seconds(0.01);
	}
	if (before)
		NEED(cudaFree(before));
	run__close(run);
}

/* Instantiates a graph for each request, and keeps the executable graph. */
static void object_leak(struct run *run)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	NEED(cudaGraphCreate(&graph, 0));
	while (run__goes_on(run)) {
		NEED(cudaGraphInstantiate(&exec, graph, 0));
		run->calls++;
		if (run->fixed)
			NEED(cudaGraphExecDestroy(exec));
		run__step(run);
		sleep_seconds(0.01);
	}
	NEED(cudaGraphDestroy(graph));
	run__close(run);
}

#define PIECES 32
#define PIECE (32ull << 20)

/* One GiB was needed once, and the pool keeps it because its release threshold is unlimited. */
static void fragmentation(struct run *run)
{
	uint64_t threshold = UINT64_MAX;
	void *pieces[PIECES], *used;
	cudaMemPool_t pool;

	NEED(cudaDeviceGetDefaultMemPool(&pool, 0));
	NEED(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
	NEED(cudaMallocAsync(&used, PIECE, run->stream));
	for (int i = 0; i < PIECES; i++)
		NEED(cudaMallocAsync(&pieces[i], PIECE, run->stream));
	run__step(run);
	for (int i = 0; i < PIECES; i++)
		NEED(cudaFreeAsync(pieces[i], run->stream));
	run__wait(run);
	if (run->fixed)
		NEED(cudaMemPoolTrimTo(pool, PIECE));
	run->bytes = PIECES * PIECE;
	while (run__goes_on(run))
		run__step(run);
	if (run->fixed)
		NEED(cudaFreeAsync(used, run->stream));
	run__wait(run);
	if (run->fixed)
		NEED(cudaMemPoolTrimTo(pool, 0));
	run__close(run);
}

const struct fault memory_faults[] = {
	{ "alloc-churn", alloc_churn, "64 MiB allocated and freed each step; fixed: once", false,
	  .environment = "CUDA_SIM_LATENCY=cuMemAlloc_v2=412us,cuMemFree_v2=23us" },
	{ "leak-growing", leak_growing, "1 MiB kept of each step; fixed: of the latest four", false,
	  .options = "--window 3s --interval 0.2 --threshold host-bound.window=60s",
	  .arguments = "--seconds 5" },
	{ "leak-at-exit", leak_at_exit,
	  "one result in ten is never freed; fixed: all are", false, NULL, NULL, NULL },
	{ "object-leak", object_leak,
	  "an executable graph kept of each step; fixed: destroyed", false,
	  .environment = "CUDA_SIM_OBJECTS=primary=527M,graph_exec=126K",
	  .options = "--threshold object-leak=100 --window 3s --interval 0.2 "
		     "--threshold host-bound.window=60s",
	  .arguments = "--seconds 5" },
	{ "fragmentation", fragmentation,
	  "a pool keeps 1 GiB and uses 32 MiB; fixed: it is trimmed", false,
	  .options = "--window 3s --interval 0.2 --threshold host-bound.window=60s",
	  .arguments = "--seconds 4" },
	{ 0 },
};
