/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libcuda and the simulated NVML share: who the devices are, and what a
 * process with a context tells of its use of them: a page in a memfd of this
 * name, which goes when the process goes, however it ends.
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
	char machine[USAGE_MACHINE];		/* whose devices they are */
	uint64_t memory;			/* of each device */
	uint64_t used[USAGE_DEVICES];		/* by this process, in bytes */
	uint64_t contexts[USAGE_DEVICES];	/* made so far */
};

/* The machine of this process: only who is on the same one sees what it uses. */
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
