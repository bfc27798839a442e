/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by libcuda and the simulated NVML: the identity of the devices, and how a process with a
 * context publishes its use of them: in a page in a memfd of this name, which disappears with the
 * process, however it ends.
 */
#ifndef SIM_CUDA_USAGE_H
#define SIM_CUDA_USAGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_NAME "Simulated GPU"
#define USAGE_NAME "cuda_sim_usage"
#define USAGE_MAGIC 0x67707573u
#define USAGE_DEVICES 16
#define USAGE_MACHINE 32

struct usage {
	uint32_t magic;
	uint32_t nr_devices;
	char machine[USAGE_MACHINE];		/* the machine that has the devices */
	uint64_t memory;			/* per device */
	uint64_t used[USAGE_DEVICES];		/* by this process, in bytes */
	uint64_t contexts[USAGE_DEVICES];	/* made so far */
};

/* The machine of this process: NVML shows the use of processes on the same machine only. */
static inline void usage__machine(char machine[USAGE_MACHINE])
{
	const char *name = getenv("CUDA_SIM_MACHINE");

	memset(machine, 0, USAGE_MACHINE);
	if (name)
		memcpy(machine, name, strnlen(name, USAGE_MACHINE - 1));
}

/* The 16 bytes of a device's UUID. */
static inline void device_uuid(int device, char *bytes)
{
	memcpy(bytes, "simulated-gpu-00", 16);
	bytes[14] = (char)(bytes[14] + device / 10);
	bytes[15] = (char)(bytes[15] + device % 10);
}

#endif
