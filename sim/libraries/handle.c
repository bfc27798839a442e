// SPDX-License-Identifier: BSD-2-Clause
// What the handles of all libraries have in common, see handle.h.
#include "libraries/handle.h"

#include <stdlib.h>

#define WORKSPACE_BYTES 4096

struct handle *handle__new(enum sim_object kind)
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return NULL;
	handle->kind = kind;
	if (cudaMalloc(&handle->workspace, WORKSPACE_BYTES) || cudaEventCreate(&handle->event)) {
		cudaFree(handle->workspace);
		free(handle);
		return NULL;
	}
	cuda_sim_handle(kind, 1);
	return handle;
}

void handle__free(struct handle *handle)
{
	cudaEventDestroy(handle->event);
	cudaFree(handle->workspace);
	cuda_sim_handle(handle->kind, -1);
	free(handle);
}
