/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the machine's GPUs a process has, and under which numbers, by the rules of
 * CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. The rules come from the CUDA programming guide and,
 * beyond it, from the observed behaviour of driver 580.159 with two H200
 * (tests/unit/device/test_visible_devices.c has the cases).
 */
#ifndef DEVICE_VISIBLE_DEVICES_H
#define DEVICE_VISIBLE_DEVICES_H

#include "device/cuda_environment.h"
#include "device/gpu.h"

#define VISIBLE_MAX 64

struct visible_devices {
	bool known;	      /* false: nothing is known, not even the number of devices */
	size_t count;	      /* devices of the process */
	int gpu[VISIBLE_MAX]; /* by CUDA's number: index in the machine's list, or GPU_NONE */
};

/*
 * Numbers follow from the order of the machine's list only if that is CUDA's order: by PCI bus, or
 * GPUs that all have one name. They are never known if a GPU is divided (MIG), or in a job that may
 * not open all GPUs (Slurm). If several instances of divided GPUs are listed, CUDA takes the first.
 */
void visible_devices__map(const struct cuda_environment *environment, const struct gpu *gpus,
			  size_t count, struct visible_devices *visible);

/*
 * The index of the GPU or instance with this UUID (from cuDeviceGetUuid); GPU_NONE if there is
 * none.
 */
int visible_devices__by_uuid(const uint8_t uuid[16], const struct gpu *gpus, size_t count);

#endif
