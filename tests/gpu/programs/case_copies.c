// SPDX-License-Identifier: BSD-2-Clause
// A case study: batches copied to the device from malloc'd memory, or from pinned memory. See
// case.h.
#include "case.h"

#define BATCH ((size_t)128 << 20)
#define BATCHES 2 /* used in turn, so that one can be filled while the other is copied */

struct batches {
	void *host[BATCHES], *device;
	cudaStream_t stream;
	bool pinned;
};

static void make(struct batches *batches, bool pinned)
{
	batches->pinned = pinned;
	for (int i = 0; i < BATCHES; i++) {
		if (pinned)
			CHECK(cudaMallocHost(&batches->host[i], BATCH));
		else
			batches->host[i] = malloc(BATCH);
		if (!batches->host[i])
			exit(1);
		memset(batches->host[i], i + 1, BATCH);
	}
	CHECK(cudaMalloc(&batches->device, BATCH));
	CHECK(cudaStreamCreate(&batches->stream));
}

static void drop(struct batches *batches)
{
	for (int i = 0; i < BATCHES; i++) {
		if (batches->pinned)
			CHECK(cudaFreeHost(batches->host[i]));
		else
			free(batches->host[i]);
	}
	CHECK(cudaFree(batches->device));
	CHECK(cudaStreamDestroy(batches->stream));
}

static double run(bool fixed, unsigned int steps)
{
	struct batches batches;
	double began, took;

	make(&batches, fixed);
	began = case_seconds();
	for (unsigned int i = 0; i < steps; i++) {
		CHECK(cudaMemcpyAsync(batches.device, batches.host[i % BATCHES], BATCH,
				      cudaMemcpyHostToDevice, batches.stream));
		case_launch(batches.device, BATCH, batches.stream);
		CHECK(cudaStreamSynchronize(batches.stream));
	}
	took = case_seconds() - began;
	drop(&batches);
	return took;
}

int main(int argc, char **argv)
{
	return case_main(argc, argv, run);
}
