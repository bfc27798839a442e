/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's management library (NVML), libnvidia-ml.so.1, loaded where the loader finds it. It
 * reports the machine's GPUs and which process uses how much of their memory.
 *
 * Any call may take milliseconds, and hangs if the driver does. Make calls in a thread that no
 * other thread waits for (device/nvml.h).
 *
 * Pids: NVIDIA's open kernel modules return them in the caller's pid namespace and leave out
 * processes that have none there (seen with driver 580.159 in nested namespaces; os_find_ns_pid in
 * their sources). Older modules return pids of the initial namespace, which only a gpuprobe in that
 * namespace can use.
 */
#ifndef DEVICE_NVML_LIBRARY_H
#define DEVICE_NVML_LIBRARY_H

#include "device/gpu.h"

#define NVML_MAX_GPUS 256    /* GPUs and instances listed */
#define NVML_VERSION_SIZE 81 /* NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, and one more */

/* Memory that a process has on a GPU. */
struct gpu_use {
	pid_t pid;
	int gpu;	/* index in the list of GPUs */
	uint64_t bytes; /* GPU_UNKNOWN_BYTES if the driver does not report it */
};

struct gpu_snapshot {
	char driver[NVML_VERSION_SIZE]; /* its version, "580.159.03"; empty if unknown */
	struct gpu *gpus;		/* by index; a divided one is followed by its instances */
	size_t gpu_count;
	struct gpu_use *uses; /* one entry for each process and GPU */
	size_t use_count;
	bool uses_known;   /* the uses of every GPU could be read */
	uint64_t begun_ns; /* CLOCK_BOOTTIME before the first query */
};

void gpu_snapshot__free(struct gpu_snapshot *snapshot);

struct nvml_library;

/*
 * Loads and initialises the library. Returns 0, -ENOENT if there is none, -ENODEV if it finds no
 * working driver, or -ENOMEM.
 */
int nvml_library__open(struct nvml_library **out);
void nvml_library__close(struct nvml_library *library);

/*
 * Queries everything; a GPU that does not answer has unknown values. Power and temperature, which
 * take the driver long, only `with_power`. NULL if out of memory.
 */
struct gpu_snapshot *nvml_library__read(const struct nvml_library *library, bool with_power);

#endif
