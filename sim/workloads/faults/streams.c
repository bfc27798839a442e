// SPDX-License-Identifier: BSD-2-Clause
// Faults of streams: the shared default stream, and results used without a wait.
#include "faults.h"

#include <string.h>

#define RESULT (1u << 20)
#define BUSY_STEPS 5

static void share_stream(uint64_t index, void *context)
{
	const struct run *shared = context;
	struct run own = *shared;

	(void)index;
	NEED(cudaSetDevice(0));
	own.stream = NULL;
	if (own.fixed)
		NEED(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking));
	while (run__goes_on(&own))
		run__step(&own);
	if (own.fixed)
		NEED(cudaStreamDestroy(own.stream));
}

/*
 * Two threads launch onto the legacy default stream and wait for it; fixed: each uses its own
 * stream.
 */
static void default_stream(struct run *run)
{
	run__open(run, 0);
	run__launch(run, 1);
	run__wait(run);
	run_threads(2, share_stream, run);
	run__close(run);
}

/* Frees the target of a copy without waiting for it. */
static void free_target(struct run *run, const void *device)
{
	void *target = pinned_memory(RESULT);

	NEED(cudaMemcpyAsync(target, device, RESULT, cudaMemcpyDeviceToHost, run->stream));
	if (run->fixed)
		run__wait(run);
	else
		run->bytes += RESULT;
	NEED(cudaFreeHost(target));
	run->calls++;
}

/* Waits for an event that was never recorded. */
static void wait_for_nothing(struct run *run)
{
	cudaEvent_t event;

	NEED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	run__launch(run, STEP_LAUNCHES);
	if (run->fixed)
		NEED(cudaEventRecord(event, run->stream));
	NEED(cudaEventSynchronize(event));
	NEED(cudaEventDestroy(event));
	run->calls++;
}

/* Destroys a stream without waiting for its launches. */
static void destroy_busy(struct run *run)
{
	cudaStream_t other, stream = run->stream;

	NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	run->stream = other;
	run__launch(run, STEP_LAUNCHES);
	if (run->fixed)
		run__wait(run);
	run->stream = stream;
	NEED(cudaStreamDestroy(other));
	run->calls++;
}

static bool has_part(const struct run *run, const char *part)
{
	return !run->part || !strcmp(run->part, part);
}

static void missing_sync(struct run *run)
{
	void *device = device_memory(RESULT), *kept = pinned_memory(RESULT);

	for (int i = 0; i < BUSY_STEPS; i++) {
		if (has_part(run, "free"))
			free_target(run, device);
		if (has_part(run, "event"))
			wait_for_nothing(run);
		if (has_part(run, "stream"))
			destroy_busy(run);
		run__step(run);
	}
	while (run__goes_on(run))
		run__step(run);
	if (!has_part(run, "exit")) {
		run__close(run);
		return;
	}
	/* The process ends with the copy in flight. */
	NEED(cudaMemcpyAsync(kept, device, RESULT, cudaMemcpyDeviceToHost, run->stream));
	run->calls++;
	if (run->fixed)
		run__close(run);
}

const struct fault stream_faults[] = {
	{ "default-stream", default_stream,
	  "two threads on the legacy default stream; fixed: each on its own", true,
	  NULL, NULL, NULL },
	{ "missing-sync", missing_sync,
	  "targets freed, streams destroyed and the process ended without a wait, and waits for "
	  "events that were not recorded; fixed: waits", false, NULL, NULL, NULL },
	{ 0 },
};
