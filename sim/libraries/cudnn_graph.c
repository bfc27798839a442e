// SPDX-License-Identifier: BSD-2-Clause
// libcudnn_graph.so.9: cuDNN's handles, see handle.h.
#include "libraries/handle.h"

#define NOT_INITIALIZED 1

LIBRARY_EXPORT int cudnnCreate(struct handle **handle);
LIBRARY_EXPORT int cudnnDestroy(struct handle *handle);

int cudnnCreate(struct handle **handle)
{
	*handle = handle__new(SIM_CUDNN, 0);
	return *handle ? 0 : NOT_INITIALIZED;
}

int cudnnDestroy(struct handle *handle)
{
	if (!handle)
		return NOT_INITIALIZED;
	handle__free(handle);
	return 0;
}
