// SPDX-License-Identifier: BSD-2-Clause
// libcudnn.so.9, which passes its calls to libcudnn_graph.so.9, as cuDNN 9 does; see handle.h.
#include "libraries/handle.h"

#include <dlfcn.h>

#define NOT_INITIALIZED 1

LIBRARY_EXPORT int cudnnCreate(struct handle **handle);
LIBRARY_EXPORT int cudnnDestroy(struct handle *handle);

static void *behind(const char *name)
{
	void *library = dlopen("libcudnn_graph.so.9", RTLD_NOW | RTLD_LOCAL);

	return library ? dlsym(library, name) : NULL;
}

int cudnnCreate(struct handle **handle)
{
	int (*create)(struct handle **) = (int (*)(struct handle **))behind("cudnnCreate");

	return create ? create(handle) : NOT_INITIALIZED;
}

int cudnnDestroy(struct handle *handle)
{
	int (*destroy)(struct handle *) = (int (*)(struct handle *))behind("cudnnDestroy");

	return destroy ? destroy(handle) : NOT_INITIALIZED;
}
