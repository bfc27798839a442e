// SPDX-License-Identifier: BSD-2-Clause
/*
 * A well-written training loop without anything to find: memory is allocated once, a thread fills
 * pinned buffers while the GPU works, copies and kernels are asynchronous on streams of their own
 * and ordered by events, the optimizer is a graph, and the loss is fetched every tenth step.
 */
#include "gpu.h"

#include <pthread.h>
#include <stdio.h>

#define BATCHES 2		/* one is used for training while the other is filled */
#define BATCH_BYTES (1u << 20)
#define WEIGHTS_BYTES (256u << 20)
#define LAYERS 16
#define FETCH_EVERY 10
#define LOAD_SECONDS 0.001

static double seconds = 2;

struct training {
	struct kernels kernels;
	cudaStream_t compute, transfer;
	cudaGraphExec_t optimizer;
	void *weights, *loss, *fetched;
	void *pinned[BATCHES], *batch[BATCHES];
	cudaEvent_t copied[BATCHES], trained[BATCHES];
	/* For the loader's thread */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t loaded, used;
	bool stop;
};

static void *load(void *context)
{
	struct training *training = context;

	pthread_mutex_lock(&training->lock);
	while (!training->stop) {
		if (training->loaded - training->used >= BATCHES) {
			pthread_cond_wait(&training->changed, &training->lock);
			continue;
		}
		pthread_mutex_unlock(&training->lock);
		sleep_seconds(LOAD_SECONDS);
		pthread_mutex_lock(&training->lock);
		training->loaded++;
		pthread_cond_broadcast(&training->changed);
	}
	pthread_mutex_unlock(&training->lock);
	return NULL;
}

static void await_batch(struct training *training)
{
	pthread_mutex_lock(&training->lock);
	while (training->loaded == training->used)
		pthread_cond_wait(&training->changed, &training->lock);
	pthread_mutex_unlock(&training->lock);
}

static void give_back(struct training *training, bool stop)
{
	pthread_mutex_lock(&training->lock);
	training->used++;
	training->stop = stop;
	pthread_cond_broadcast(&training->changed);
	pthread_mutex_unlock(&training->lock);
}

static void launch_layers(const struct training *training, int from, int to)
{
	for (int i = from; i < to; i++)
		NEED(launch_once(API_RUNTIME, training->kernels.handles[i], training->compute));
}

static void make_optimizer(struct training *training)
{
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(training->compute, cudaStreamCaptureModeThreadLocal));
	launch_layers(training, LAYERS, 2 * LAYERS);
	NEED(cudaStreamEndCapture(training->compute, &graph));
	NEED(cudaGraphInstantiate(&training->optimizer, graph, 0));
	NEED(cudaGraphDestroy(graph));
}

static void begin(struct training *training)
{
	gpu__open(API_RUNTIME);
	training->kernels = kernels__load(API_RUNTIME, "layer", (uint64_t)2 * LAYERS, 0);
	NEED(cudaStreamCreateWithFlags(&training->compute, cudaStreamNonBlocking));
	NEED(cudaStreamCreateWithFlags(&training->transfer, cudaStreamNonBlocking));
	NEED(cudaMalloc(&training->weights, WEIGHTS_BYTES));
	NEED(cudaMemset(training->weights, 0, WEIGHTS_BYTES));
	NEED(cudaMalloc(&training->loss, sizeof(float)));
	NEED(cudaHostAlloc(&training->fetched, sizeof(float), cudaHostAllocDefault));
	for (int i = 0; i < BATCHES; i++) {
		NEED(cudaHostAlloc(&training->pinned[i], BATCH_BYTES, cudaHostAllocDefault));
		NEED(cudaMalloc(&training->batch[i], BATCH_BYTES));
		NEED(cudaEventCreateWithFlags(&training->copied[i], cudaEventDisableTiming));
		NEED(cudaEventCreateWithFlags(&training->trained[i], cudaEventDisableTiming));
	}
	make_optimizer(training);
	NEED(cudaDeviceSynchronize());
}

/*
 * Waits for the step before last, whose batch buffer is needed again, so that the GPU always has
 * one step queued.
 */
static void step(struct training *training, uint64_t number)
{
	int i = (int)(number % BATCHES);

	await_batch(training);
	if (number >= BATCHES)
		NEED(cudaEventSynchronize(training->trained[i]));
	NEED(cudaMemcpyAsync(training->batch[i], training->pinned[i], BATCH_BYTES,
			     cudaMemcpyHostToDevice, training->transfer));
	NEED(cudaEventRecord(training->copied[i], training->transfer));
	NEED(cudaStreamWaitEvent(training->compute, training->copied[i], 0));
	launch_layers(training, 0, LAYERS);
	NEED(cudaGraphLaunch(training->optimizer, training->compute));
	NEED(cudaEventRecord(training->trained[i], training->compute));
	if (number % FETCH_EVERY == 0) {
		NEED(cudaMemcpyAsync(training->fetched, training->loss, sizeof(float),
				     cudaMemcpyDeviceToHost, training->compute));
		NEED(cudaStreamSynchronize(training->compute));
	}
	give_back(training, false);
}

static void end(struct training *training)
{
	NEED(cudaDeviceSynchronize());
	for (int i = 0; i < BATCHES; i++) {
		NEED(cudaEventDestroy(training->copied[i]));
		NEED(cudaEventDestroy(training->trained[i]));
		NEED(cudaFree(training->batch[i]));
		NEED(cudaFreeHost(training->pinned[i]));
	}
	NEED(cudaFree(training->weights));
	NEED(cudaFree(training->loss));
	NEED(cudaFreeHost(training->fetched));
	NEED(cudaGraphExecDestroy(training->optimizer));
	NEED(cudaStreamDestroy(training->compute));
	NEED(cudaStreamDestroy(training->transfer));
	kernels__unload(&training->kernels);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "seconds", OPTION_SECONDS, &seconds, NULL, "how long to train [2]" },
		{ 0 },
	};
	struct training training = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	pthread_t loader;
	uint64_t steps;
	double until;

	monitor_options__parse(argc, argv, "A training loop as it should be.", options);
	begin(&training);
	if (pthread_create(&loader, NULL, load, &training))
		give_up("the loader does not start");
	until = now() + seconds;
	for (steps = 0; now() < until; steps++)
		step(&training, steps);
	give_back(&training, true);
	pthread_join(loader, NULL);
	end(&training);
	printf("training: %llu steps\n", (unsigned long long)steps);
	return 0;
}
