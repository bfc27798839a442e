// SPDX-License-Identifier: BSD-2-Clause
// What the handles of all libraries have in common, see handle.h.
#include "libraries/handle.h"

#include <stdlib.h>

struct handle *handle__new(enum sim_object kind, size_t workspace)
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return NULL;
	handle->kind = kind;
	if ((workspace && cudaMalloc(&handle->workspace, workspace)) ||
	    cudaEventCreate(&handle->event)) {
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
	if (handle->workspace)
		cudaFree(handle->workspace);
	cuda_sim_handle(handle->kind, -1);
	free(handle);
}
