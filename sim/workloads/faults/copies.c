// SPDX-License-Identifier: BSD-2-Clause
// Faults of copying: copies that are too small, from pageable memory, or unnecessary.
#include "faults.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL 4096
#define BATCH 256
#define LARGE (4u << 20)
#define RESULT (1u << 20)
#define REPEATED (256u << 10)
#define REPEATS 2
#define WEIGHTS (2u << 20)

static void to_device(struct run *run, void *to, const void *from, size_t bytes)
{
	NEED(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, run->stream));
}

static void to_host(struct run *run, void *to, const void *from, size_t bytes)
{
	NEED(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, run->stream));
}

/* 256 samples, one copy each; fixed: one for the batch. */
static void small_copies(struct run *run)
{
	char *device = device_memory(BATCH * SMALL), *host = pinned_memory(BATCH * SMALL);
	size_t bytes = run->fixed ? BATCH * SMALL : SMALL;

	while (run__goes_on(run)) {
		for (size_t at = 0; at < BATCH * SMALL; at += bytes)
			to_device(run, device + at, host + at, bytes);
		run__step(run);
	}
	NEED(cudaFree(device));
	NEED(cudaFreeHost(host));
	run__close(run);
}

/* Batches come from malloc'ed memory; fixed: from pinned memory. Results go to pinned memory. */
static void pageable_copies(struct run *run)
{
	void *device = device_memory(LARGE), *result = pinned_memory(RESULT);
	void *batch = run->fixed ? pinned_memory(LARGE) : must_allocate(LARGE);

	while (run__goes_on(run)) {
		to_device(run, device, batch, LARGE);
		run__launch(run, STEP_LAUNCHES);
		to_host(run, result, device, RESULT);
		run__wait(run);
	}
	if (run->fixed)
		NEED(cudaFreeHost(batch));
	else
		free(batch);
	NEED(cudaFreeHost(result));
	NEED(cudaFree(device));
	run__close(run);
}

/* Each input is copied three times before use, each result fetched twice; fixed: once. */
static void redundant_copies(struct run *run)
{
	void *input = device_memory(REPEATED), *output = device_memory(REPEATED);
	void *from = pinned_memory(REPEATED), *to = pinned_memory(REPEATED);

	while (run__goes_on(run)) {
		to_device(run, input, from, REPEATED);
		for (int i = 0; i < REPEATS && !run->fixed; i++) {
			run__begin_cost(run);
			to_device(run, input, from, REPEATED);
			run__end_cost(run, REPEATED);
		}
		run__launch(run, STEP_LAUNCHES);
		to_host(run, to, output, REPEATED);
		if (!run->fixed) {
			run__begin_cost(run);
			to_host(run, to, output, REPEATED);
			run__end_cost(run, REPEATED);
		}
		run__wait(run);
	}
	NEED(cudaFree(input));
	NEED(cudaFree(output));
	NEED(cudaFreeHost(from));
	NEED(cudaFreeHost(to));
	run__close(run);
}

/* A file in the current directory that disappears with the program. */
static void *map_file(size_t bytes)
{
	char path[] = "mapped-XXXXXX";
	int fd = mkstemp(path);
	void *memory;

	if (fd < 0 || unlink(path) || ftruncate(fd, (off_t)bytes))
		give_up("no file can be made in the current directory");
	memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		give_up("the file cannot be mapped");
	return memory;
}

/*
 * Weights are copied directly from a mapped file; fixed: from pinned memory, into which they are
 * read.
 */
static void mapped_file_copies(struct run *run)
{
	void *device = device_memory(WEIGHTS), *file = map_file(WEIGHTS);
	void *pinned = run->fixed ? pinned_memory(WEIGHTS) : NULL;

	while (run__goes_on(run)) {
		if (pinned)
			memcpy(pinned, file, WEIGHTS);
		to_device(run, device, pinned ? pinned : file, WEIGHTS);
		run__step(run);
	}
	munmap(file, WEIGHTS);
	if (pinned)
		NEED(cudaFreeHost(pinned));
	NEED(cudaFree(device));
	run__close(run);
}

const struct fault copy_faults[] = {
	{ "small-copies", small_copies, "256 copies of 4 KiB each step; fixed: one of all", false,
	  .environment = "CUDA_SIM_LATENCY=cuMemcpyHtoDAsync_v2=60us" },
	{ "pageable-copies", pageable_copies,
	  "4 MiB of malloc'ed memory each step; fixed: of pinned", false,
	  .environment = "CUDA_SIM_LATENCY=cuMemcpyHtoDAsync_v2=100us+0.1ns/B" },
	{ "redundant-copies", redundant_copies,
	  "inputs copied three times, results twice; fixed: once", false,
	  .environment = "CUDA_SIM_LATENCY=cuMemcpyHtoDAsync_v2=500us,cuMemcpyDtoHAsync_v2=500us" },
	{ "mapped-file-copies", mapped_file_copies,
	  "2 MiB of a mapped file each step; fixed: read into pinned memory", false,
	  .environment = "CUDA_SIM_LATENCY=cuMemcpyHtoDAsync_v2=100ms",
	  .options = "--threshold mapped-file-copies=500ms" },
	{ 0 },
};
