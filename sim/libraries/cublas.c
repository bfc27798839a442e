// SPDX-License-Identifier: BSD-2-Clause
// libcublas.so.13: handles that hold a workspace, an event and a handle of cuBLASLt, see handle.h.
#include "libraries/handle.h"

#define NOT_INITIALIZED 1
#define WORKSPACE_BYTES 4096

LIBRARY_EXPORT int cublasCreate_v2(struct handle **handle);
LIBRARY_EXPORT int cublasDestroy_v2(struct handle *handle);

int cublasLtCreate(void **handle);
int cublasLtDestroy(void *handle);

int cublasCreate_v2(struct handle **handle)
{
	*handle = handle__new(SIM_CUBLAS, WORKSPACE_BYTES);
	return *handle ? cublasLtCreate(&(*handle)->inner) : NOT_INITIALIZED;
}

int cublasDestroy_v2(struct handle *handle)
{
	if (!handle)
		return NOT_INITIALIZED;
	cublasLtDestroy(handle->inner);
	handle__free(handle);
	return 0;
}
