// SPDX-License-Identifier: BSD-2-Clause
// libcublasLt.so.13: handles that hold nothing. Each of cuBLAS has one inside; see handle.h.
#include "libraries/handle.h"

#include <stdlib.h>

#define ALLOC_FAILED 3

LIBRARY_EXPORT int cublasLtCreate(void **handle);
LIBRARY_EXPORT int cublasLtDestroy(void *handle);

int cublasLtCreate(void **handle)
{
	*handle = malloc(16);
	return *handle ? 0 : ALLOC_FAILED;
}

int cublasLtDestroy(void *handle)
{
	free(handle);
	return 0;
}
