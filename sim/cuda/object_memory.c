// SPDX-License-Identifier: BSD-2-Clause
/*
 * The device memory that objects take, as a real driver's do: it is in NVML's figure of the process
 * and in no allocation. CUDA_SIM_OBJECTS=KIND=BYTES,... gives the bytes of each object of a kind;
 * without it objects take none. An object that ends leaves its memory to later ones of its kind, so
 * the peak of live objects counts. NVML's figure moves in steps of 2 MiB.
 */
#include "cuda/memory.h"
#include "record/internal.h"

#include <stdlib.h>
#include <string.h>

#define STEP (2ull << 20)

static const char *const words[SIM_OBJECTS] = {
	[SIM_STREAM] = "stream",	 [SIM_EVENT] = "event",
	[SIM_CONTEXT] = "context",	 [SIM_PRIMARY_CONTEXT] = "primary",
	[SIM_GREEN_CONTEXT] = "green",	 [SIM_MODULE] = "module",
	[SIM_LIBRARY] = "library",	 [SIM_GRAPH] = "graph",
	[SIM_GRAPH_EXEC] = "graph_exec", [SIM_POOL] = "pool",
	[SIM_CUBLAS] = "cublas",	 [SIM_CUDNN] = "cudnn",
	[SIM_CUFFT] = "cufft",		 [SIM_NCCL] = "nccl",
};

static struct {
	pthread_mutex_t lock;
	uint64_t each[SIM_OBJECTS];
	int64_t live[SIM_OBJECTS], peak[SIM_OBJECTS];
	uint64_t bytes;
} objects = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool read_one(const char *text, size_t length)
{
	const char *equals = memchr(text, '=', length);
	char size[32];
	size_t digits;

	if (!equals)
		return false;
	digits = length - (size_t)(equals + 1 - text);
	if (digits >= sizeof(size))
		return false;
	memcpy(size, equals + 1, digits);
	size[digits] = '\0';
	for (int kind = 0; kind < SIM_OBJECTS; kind++)
		if (strlen(words[kind]) == (size_t)(equals - text) &&
		    !memcmp(words[kind], text, strlen(words[kind])))
			return sim_parse__size(size, &objects.each[kind]);
	return false;
}

void object_memory__start(void)
{
	const char *setting = getenv("CUDA_SIM_OBJECTS");

	for (const char *at = setting; at && *at; at += *at == ',') {
		size_t length = strcspn(at, ",");

		if (!read_one(at, length))
			sim_parse__refuse("CUDA_SIM_OBJECTS", setting, "expected KIND=BYTES,...");
		driver.objects_cost = true;
		at += length;
	}
}

void object_memory__changed(enum sim_object kind, int change)
{
	pthread_mutex_lock(&objects.lock);
	objects.live[kind] += change;
	if (objects.live[kind] > objects.peak[kind]) {
		objects.peak[kind] = objects.live[kind];
		objects.bytes += objects.each[kind];
		show__objects(0, (objects.bytes + STEP - 1) / STEP * STEP);
	}
	pthread_mutex_unlock(&objects.lock);
}

/* For libraries above CUDA: one of their handles was made (1) or destroyed (-1). */
SIM_EXPORT void cuda_sim_handle(enum sim_object kind, int change);

void cuda_sim_handle(enum sim_object kind, int change)
{
	if (change > 0)
		driver__created(kind);
	else
		driver__destroyed(kind);
}
