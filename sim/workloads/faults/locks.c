// SPDX-License-Identifier: BSD-2-Clause
// Faults of threads that block each other inside the driver.
#include "faults.h"

#include <pthread.h>

#define PLUGINS 24
#define PLUGIN_PAUSE 0.03
#define HELD_UP 0.005 /* seconds; a launch takes some microseconds, and a load 100 ms */

static void load_plugin(struct kernels *plugin, int number)
{
	char prefix[] = "plugin_a";

	prefix[7] = (char)('a' + number);
	*plugin = kernels__load(API_RUNTIME, prefix, 1, 0);
}

static void *load_plugins(void *arg)
{
	struct run *run = arg;
	struct kernels *plugins = must_allocate(PLUGINS * sizeof(*plugins));
	int count = 0;

	NEED(cudaSetDevice(0));
	for (; count < PLUGINS && (run->fixed || run__goes_on(run)); count++) {
		load_plugin(&plugins[count], count);
		if (!run->fixed)
			sleep_seconds(PLUGIN_PAUSE);
	}
	while (count--)
		kernels__unload(&plugins[count]);
	free(plugins);
	return NULL;
}

/* A step whose launches are timed: slow ones were blocked. */
static void measured_step(struct run *run)
{
	for (int i = 0; i < STEP_LAUNCHES; i++) {
		double begun = now(), took;

		run__launch(run, 1);
		took = now() - begun;
		if (took < HELD_UP)
			continue;
		run->cost_ns += (uint64_t)(took * 1e9);
		run->calls++;
	}
	run__wait(run);
}

/* One thread launches while another loads modules; fixed: they are loaded before. */
static void driver_contention(struct run *run)
{
	struct run loads = *run;
	pthread_t thread;

	if (pthread_create(&thread, NULL, load_plugins, &loads))
		give_up("no thread");
	if (run->fixed)
		pthread_join(thread, NULL);
	while (run__goes_on(run))
		measured_step(run);
	if (!run->fixed)
		pthread_join(thread, NULL);
	run__close(run);
}

const struct fault lock_faults[] = {
	{ "driver-contention", driver_contention,
	  "a thread loads modules while another launches; fixed: before", false,
	  .environment =
		  "CUDA_SIM_LOCK=cuLibraryLoadData CUDA_SIM_LATENCY=cuLibraryLoadData=100ms" },
	{ 0 },
};
