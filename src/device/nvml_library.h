/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's management library, libnvidia-ml.so.1, loaded where the loader finds
 * it: the machine's GPUs, and who uses how much of their memory.
 *
 * Any call may take milliseconds, and hang where the driver does: they belong
 * into a thread that nobody waits for (device/nvml.h).
 *
 * Pids: NVIDIA's open kernel modules give them in the caller's pid namespace
 * and leave out processes that have none there (seen with driver 580.159 in
 * nested namespaces; os_find_ns_pid in their sources). Older modules give those
 * of the initial namespace: only gpuprobe there can use them.
 */
#ifndef DEVICE_NVML_LIBRARY_H
#define DEVICE_NVML_LIBRARY_H

#include "device/gpu.h"

#define NVML_MAX_GPUS 256    /* GPUs and instances listed */
#define NVML_VERSION_SIZE 81 /* NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, and one more */

/* Memory that a process has on a GPU. */
struct gpu_use {
	pid_t pid;
	int gpu;	/* place in the list of GPUs */
	uint64_t bytes; /* GPU_UNKNOWN_BYTES where the driver does not tell */
};

struct gpu_snapshot {
	char driver[NVML_VERSION_SIZE]; /* its version, "580.159.03"; empty where it does not tell */
	struct gpu *gpus;		/* by index; the instances of a divided one behind it */
	size_t gpu_count;
	struct gpu_use *uses; /* each process and GPU once */
	size_t use_count;
	bool uses_known;   /* for every GPU */
	uint64_t begun_ns; /* CLOCK_BOOTTIME before the first question */
};

void gpu_snapshot__free(struct gpu_snapshot *snapshot);

struct nvml_library;

/*
 * Loads and initialises it. Returns 0, -ENOENT where there is none, -ENODEV
 * where it finds no working driver, or -ENOMEM.
 */
int nvml_library__open(struct nvml_library **out);
void nvml_library__close(struct nvml_library *library);

/* Asks for everything; a GPU that does not answer has unknown values. NULL when out of memory. */
struct gpu_snapshot *nvml_library__read(const struct nvml_library *library);

#endif
