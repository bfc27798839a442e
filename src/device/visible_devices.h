/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the machine's GPUs a process has, and under which numbers, by the
 * rules of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. The rules are those of
 * the CUDA programming guide, and beyond it what driver 580.159 was seen to do
 * with two H200 (tests/unit/device/test_visible_devices.c has the cases).
 */
#ifndef DEVICE_VISIBLE_DEVICES_H
#define DEVICE_VISIBLE_DEVICES_H

#include "device/cuda_environment.h"
#include "device/gpu.h"

#define VISIBLE_MAX 64

struct visible_devices {
	bool known;	      /* else nothing can be said, not even how many there are */
	size_t count;	      /* devices that the process has */
	int gpu[VISIBLE_MAX]; /* by CUDA's number: place in the machine's list, or GPU_NONE when not known */
};

/*
 * Numbers can be told from the order of the machine's list only where that is
 * CUDA's: by PCI bus, or GPUs of one name; never where a GPU is divided (MIG),
 * nor in a job that may not open all of them (Slurm). Of several instances of
 * divided GPUs CUDA takes the first.
 */
void visible_devices__map(const struct cuda_environment *environment, const struct gpu *gpus, size_t count,
			  struct visible_devices *visible);

/* The place of the GPU or instance with this UUID, as cuDeviceGetUuid gives it; GPU_NONE without. */
int visible_devices__by_uuid(const uint8_t uuid[16], const struct gpu *gpus, size_t count);

#endif
