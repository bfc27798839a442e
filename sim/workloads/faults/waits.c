// SPDX-License-Identifier: BSD-2-Clause
// Faults of waiting: too often, implicitly, and with nothing queued.
#include "faults.h"

#include <pthread.h>

#define LAUNCHES 48	/* per step */
#define HOST_WORK 0.005
#define LONG_HOST_WORK 0.15
#define STEP_HOST_WORK 0.04

/* Waits after every `between` launches; fixed: once per step. */
static void wait_often(struct run *run, uint64_t between)
{
	while (run__goes_on(run)) {
		for (uint64_t i = 0; i < LAUNCHES; i += between) {
			run__launch(run, between);
			if (!run->fixed)
				run__wait(run);
		}
		if (run->fixed)
			run__wait(run);
		sleep_seconds(HOST_WORK);
	}
	run__close(run);
}

static void sync_after_every_launch(struct run *run)
{
	wait_often(run, 1);
}

static void sync_stall(struct run *run)
{
	wait_often(run, 3);
}

#define FREED 300
#define BLOCK_BYTES (256u << 10)

/*
 * Frees a scratch buffer, clears another one and fetches a result while the stream has work and
 * more is to come; fixed: uses stream order, and frees when everything is done.
 */
static void implicit_sync(struct run *run)
{
	void *scratch = device_memory(BLOCK_BYTES), *result = pinned_memory(BLOCK_BYTES);
	void **freed = must_allocate(FREED * sizeof(*freed));
	int step;

	/* Different sizes, so that no address is reused. */
	for (int i = 0; i < FREED; i++)
		freed[i] = device_memory(4096 + (size_t)i * 512);
	for (step = 0; step < FREED && run__goes_on(run); step++) {
		run__launch(run, STEP_LAUNCHES);
		if (run->fixed) {
			NEED(cudaMemsetAsync(scratch, 0, BLOCK_BYTES, run->stream));
			NEED(cudaMemcpyAsync(result, scratch, BLOCK_BYTES, cudaMemcpyDeviceToHost,
					     run->stream));
		} else {
			NEED(cudaMemset(scratch, 0, BLOCK_BYTES));
			run__launch(run, 1);
			NEED(cudaMemcpy(result, scratch, BLOCK_BYTES, cudaMemcpyDeviceToHost));
			run__launch(run, 1);
			NEED(cudaFree(freed[step]));
		}
		run__launch(run, STEP_LAUNCHES);
		run__wait(run);
	}
	for (int i = run->fixed ? 0 : step; i < FREED; i++)
		NEED(cudaFree(freed[i]));
	while (run__goes_on(run))
		run__step(run);
	NEED(cudaFree(scratch));
	NEED(cudaFreeHost(result));
	free(freed);
	run__close(run);
}

/*
 * Prepares the next batch when the previous one is done, so that the GPU is idle meanwhile. Fixed:
 * prepares it while the GPU works.
 */
static void idle_gaps(struct run *run)
{
	run__launch(run, STEP_LAUNCHES);
	while (run__goes_on(run)) {
		if (run->fixed)
			sleep_seconds(LONG_HOST_WORK);
		run__wait(run);
		run__begin_cost(run);
		if (!run->fixed)
			sleep_seconds(LONG_HOST_WORK);
		run__end_cost(run, 0);
		run__launch(run, STEP_LAUNCHES);
	}
	run__close(run);
}

/*
 * Prepares each step when the previous one is done, for a shorter time than the GPU then works.
 * Fixed: prepares it while the GPU works.
 */
static void host_bound(struct run *run)
{
	while (run__goes_on(run)) {
		if (!run->fixed)
			sleep_seconds(STEP_HOST_WORK);
		run__launch(run, STEP_LAUNCHES);
		if (run->fixed)
			sleep_seconds(STEP_HOST_WORK);
		run__wait(run);
	}
	run__close(run);
}

static void *wait_in_thread(void *arg)
{
	struct run *run = arg;

	run__begin_cost(run);
	run__step(run);
	while (run__goes_on(run))
		run__step(run);
	return NULL;
}

/*
 * One thread waits for work that, as far as can be seen, never ends, until the process is ended;
 * fixed: for work that ends.
 */
static void stuck(struct run *run)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_in_thread, run))
		give_up("no thread");
	sleep_seconds(run->seconds);
	run__end_cost(run, 0);
	if (run->fixed)
		pthread_join(thread, NULL);
}

const struct fault wait_faults[] = {
	{ "sync-after-every-launch", sync_after_every_launch,
	  "waits after each launch; fixed: once a step", false,
	  .environment = "CUDA_SIM_ASYNC=200us" },
	{ "sync-stall", sync_stall, "waits after every three launches; fixed: once a step", false,
	  .environment = "CUDA_SIM_ASYNC=200us" },
	{ "implicit-sync", implicit_sync,
	  "clears, copies and frees between launches, all of which block; fixed: in stream order",
	  false,
	  .environment =
		  "CUDA_SIM_LATENCY=cuMemsetD8_v2=100us,cuMemcpyDtoH_v2=300us,cuMemFree_v2=200us" },
	{ "idle-gaps", idle_gaps,
	  "150 ms of host work after each wait; fixed: beside the GPU's", false,
	  .environment = "CUDA_SIM_ASYNC=100ms" },
	{ "host-bound", host_bound,
	  "40 ms of host work before each step of 60 ms; fixed: beside the GPU's", false,
	  .environment = "CUDA_SIM_ASYNC=60ms", .options = "--threshold host-bound.window=1s" },
	{ "stuck", stuck,
	  "a thread waits for work that does not end; fixed: for work that does", false,
	  .environment = "CUDA_SIM_ASYNC=300s", .options = "--threshold stuck=1s" },
	{ 0 },
};
