// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entry points by name: the newest form of a function in the requested CUDA version, for the
 * requested default stream.
 */
#include "cuda/driver.h"

#include <stdio.h>
#include <string.h>

#define MAX_NAME 128

/* The versions that introduced forms, for CUDA 12 and later; older forms always exist. */
static const struct {
	const char *name;
	int version;
} since[] = {
	{ "cuCtxCreate_v4", 12050 },
	{ "cuCtxGetDevice_v2", 13000 },
	{ "cuCtxSynchronize_v2", 13000 },
	{ "cuEventElapsedTime_v2", 12080 },
	{ "cuGetProcAddress_v2", 12000 },
	{ "cuGraphAddDependencies_v2", 12030 },
	{ "cuGraphAddKernelNode_v2", 12000 },
	{ "cuGraphAddNode_v2", 12030 },
	{ "cuGraphExecKernelNodeSetParams_v2", 12000 },
	{ "cuGraphExecUpdate_v2", 12000 },
	{ "cuGraphGetEdges_v2", 12030 },
	{ "cuGraphKernelNodeGetParams_v2", 12000 },
	{ "cuGraphKernelNodeSetParams_v2", 12000 },
	{ "cuGraphNodeGetDependencies_v2", 12030 },
	{ "cuGraphNodeGetDependentNodes_v2", 12030 },
	{ "cuGraphRemoveDependencies_v2", 12030 },
	{ "cuMemAdvise_v2", 12020 },
	{ "cuMemPrefetchAsync_v2", 12020 },
	{ "cuMemcpy3DBatchAsync_v2", 13000 },
	{ "cuMemcpyBatchAsync_v2", 13000 },
	{ "cuStreamGetCaptureInfo_v3", 12030 },
	{ "cuStreamGetCtx_v2", 12050 },
	{ "cuStreamUpdateCaptureDependencies_v2", 12030 },
};

static bool too_new(const char *name, int version)
{
	for (size_t i = 0; i < sizeof(since) / sizeof(*since); i++)
		if (!strcmp(since[i].name, name))
			return since[i].version > version;
	return false;
}

static const struct sim_function *find(const char *name)
{
	for (struct sim_function *const *function = __start_sim_functions;
	     function < __stop_sim_functions; function++)
		if (!strcmp((*function)->name, name))
			return *function;
	return NULL;
}

static const struct sim_function *find_form(const char *base, const char *version,
					    bool per_thread)
{
	static const char *const suffixes[] = { "_ptsz", "_ptds", "" };
	const struct sim_function *function = NULL;
	char name[MAX_NAME];

	for (int i = per_thread ? 0 : 2; i < 3 && !function; i++) {
		if (snprintf(name, sizeof(name), "%s%s%s", base, version, suffixes[i]) >=
		    (int)sizeof(name))
			return NULL;
		function = find(name);
	}
	return function;
}

static int look_up(const char *symbol, void **out, int version, uint64_t flags,
		   CUdriverProcAddressQueryResult *status)
{
	static const char *const versions[] = { "_v4", "_v3", "_v2", "" };
	bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	const struct sim_function *function = NULL;
	bool newer = false;

	if (!symbol || !out)
		return CUDA_ERROR_INVALID_VALUE;
	/* The only function whose newer form has another name. */
	if (!strcmp(symbol, "cuGraphInstantiate") && version >= 12000)
		function = find("cuGraphInstantiateWithFlags");
	for (int i = 0; i < 4 && !function; i++) {
		char name[MAX_NAME];

		snprintf(name, sizeof(name), "%s%s", symbol, versions[i]);
		function = find_form(symbol, versions[i], per_thread);
		if (function && too_new(name, version)) {
			newer = true;
			function = NULL;
		}
	}
	*out = function ? (void *)(uintptr_t)function->address : NULL;
	if (status)
		*status = function ? CU_GET_PROC_ADDRESS_SUCCESS :
			  newer ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT :
				  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static int no_table(const void **out)
{
	if (out)
		*out = NULL;
	return CUDA_ERROR_NOT_FOUND;
}

DRIVER_PLAIN(cuGetProcAddress, (const char *symbol, void **out, int version, cuuint64_t flags),
	     look_up(symbol, out, version, flags, NULL));
DRIVER_PLAIN(cuGetProcAddress_v2, (const char *symbol, void **out, int version,
				   cuuint64_t flags, CUdriverProcAddressQueryResult *status),
	     look_up(symbol, out, version, flags, status));
DRIVER_PLAIN(cuGetExportTable, (const void **out, const CUuuid *id), ((void)id, no_table(out)));
