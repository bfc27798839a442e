/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVML's lists of the processes on a GPU. There are three kinds, each a function in up to three
 * versions whose entries have different sizes. Types and numbers are those of NVIDIA's nvml.h.
 */
#ifndef DEVICE_NVML_LIST_H
#define DEVICE_NVML_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "device/nvml_library.h"

#define NVML_SUCCESS 0
#define NVML_NO_INSTANCE UINT32_MAX
#define NVML_LISTS 3
#define NVML_LIST_VERSIONS 3

typedef void *nvml_device;
typedef int (*nvml_list_fn)(nvml_device, unsigned int *, void *);

/* A kind of list: the same query in its versions, newest first; NULL where the library has none. */
struct nvml_list {
	const char *name; /* "Compute" */
	nvml_list_fn versions[NVML_LIST_VERSIONS];
};

/* Finds the functions in the library that `handle` (dlopen) has. */
void nvml_list__find(struct nvml_list lists[NVML_LISTS], void *handle);

/*
 * Adds the processes on the GPU with index `gpu` to the snapshot's uses. Queries by the newest
 * version that gives a plausible answer. Returns whether one did; a kind that the library does not
 * have is not an error.
 */
bool nvml_list__read(const struct nvml_list *list, nvml_device device,
		     struct gpu_snapshot *snapshot, int gpu);

#endif
