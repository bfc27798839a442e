// SPDX-License-Identifier: BSD-2-Clause
/*
 * Libraries of code loaded explicitly, occupancy, entry points of the driver, and the function that
 * describes an array's elements.
 */
#include "cudart/runtime.h"

static int get_global(void **out, size_t *size, cudaLibrary_t library, const char *name)
{
	CUdeviceptr address;
	int result = (int)D.cuLibraryGetGlobal(&address, size, library, name);

	if (!result && out)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int active_blocks(int *out, const void *function, int block_size, size_t shared,
			 unsigned int flags)
{
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	if (result)
		return result;
	return (int)D.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		out, (CUfunction)kernel, block_size, shared, flags);
}

static int available_shared(size_t *out, const void *function, int blocks, int block_size)
{
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	if (result)
		return result;
	return (int)D.cuOccupancyAvailableDynamicSMemPerBlock(out, (CUfunction)kernel, blocks,
							      block_size);
}

static int clusters(int *out, const void *function, const cudaLaunchConfig_t *config, bool active)
{
	CUlaunchConfig empty = { 0 };
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	if (result)
		return result;
	if (!config)
		return cudaErrorInvalidValue;
	if (active)
		return (int)D.cuOccupancyMaxActiveClusters(out, (CUfunction)kernel, &empty);
	return (int)D.cuOccupancyMaxPotentialClusterSize(out, (CUfunction)kernel, &empty);
}

static int entry_point(const struct sim_call *call, const char *symbol, void **out,
		       unsigned int version, unsigned long long flags,
		       enum cudaDriverEntryPointQueryResult *status)
{
	CUdriverProcAddressQueryResult driver_status = CU_GET_PROC_ADDRESS_SUCCESS;
	int result;

	if (call->per_thread && !flags)
		flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	result = (int)D.cuGetProcAddress_v2(symbol, out, (int)version, flags, &driver_status);
	if (status)
		*status = (enum cudaDriverEntryPointQueryResult)driver_status;
	/* If the caller takes a status, an unknown symbol is no error. */
	return status && result == cudaErrorSymbolNotFound ? (int)cudaSuccess : result;
}

#define OPTIONS enum cudaJitOption *jit_options, void **jit_values,			\
		unsigned int nr_jit_options, enum cudaLibraryOption *options,		\
		void **values, unsigned int nr_options
#define PASS_OPTIONS (CUjit_option *)jit_options, jit_values, nr_jit_options,		\
		     (CUlibraryOption *)options, values, nr_options

RUNTIME(cudaLibraryLoadData, SIM_OTHER, (cudaLibrary_t *out, const void *code, OPTIONS), 0,
	(int)D.cuLibraryLoadData(out, code, PASS_OPTIONS));
RUNTIME(cudaLibraryLoadFromFile, SIM_OTHER, (cudaLibrary_t *out, const char *path, OPTIONS), 0,
	(int)D.cuLibraryLoadFromFile(out, path, PASS_OPTIONS));
RUNTIME(cudaLibraryUnload, SIM_OTHER, (cudaLibrary_t library), 0,
	(int)D.cuLibraryUnload(library));
RUNTIME(cudaLibraryGetKernel, SIM_OTHER, (cudaKernel_t *out, cudaLibrary_t library,
					  const char *name), 0,
	(int)D.cuLibraryGetKernel(out, library, name));
RUNTIME(cudaLibraryGetKernelCount, SIM_OTHER, (unsigned int *out, cudaLibrary_t library), 0,
	(int)D.cuLibraryGetKernelCount(out, library));
RUNTIME(cudaLibraryEnumerateKernels, SIM_OTHER, (cudaKernel_t *out, unsigned int room,
						 cudaLibrary_t library), 0,
	(int)D.cuLibraryEnumerateKernels(out, room, library));
RUNTIME(cudaLibraryGetGlobal, SIM_OTHER, (void **out, size_t *size, cudaLibrary_t library,
					  const char *name), 0,
	get_global(out, size, library, name));
RUNTIME(cudaLibraryGetManaged, SIM_OTHER, (void **out, size_t *size, cudaLibrary_t library,
					   const char *name), 0,
	get_global(out, size, library, name));

RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor, SIM_OTHER,
	(int *out, const void *function, int block_size, size_t shared), 0,
	active_blocks(out, function, block_size, shared, 0));
RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, SIM_OTHER,
	(int *out, const void *function, int block_size, size_t shared, unsigned int flags), 0,
	active_blocks(out, function, block_size, shared, flags));
RUNTIME(cudaOccupancyAvailableDynamicSMemPerBlock, SIM_OTHER,
	(size_t *out, const void *function, int blocks, int block_size), 0,
	available_shared(out, function, blocks, block_size));
RUNTIME(cudaOccupancyMaxActiveClusters, SIM_OTHER,
	(int *out, const void *function, const cudaLaunchConfig_t *config), 0,
	clusters(out, function, config, true));
RUNTIME(cudaOccupancyMaxPotentialClusterSize, SIM_OTHER,
	(int *out, const void *function, const cudaLaunchConfig_t *config), 0,
	clusters(out, function, config, false));

RUNTIME_PTSZ(cudaGetDriverEntryPoint, SIM_OTHER,
	     (const char *symbol, void **out, unsigned long long flags,
	      enum cudaDriverEntryPointQueryResult *status), 0,
	     entry_point(&call, symbol, out, CUDART_VERSION, flags, status));
RUNTIME_PTSZ(cudaGetDriverEntryPointByVersion, SIM_OTHER,
	     (const char *symbol, void **out, unsigned int version, unsigned long long flags,
	      enum cudaDriverEntryPointQueryResult *status), 0,
	     entry_point(&call, symbol, out, version, flags, status));

RUNTIME_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
								  enum cudaChannelFormatKind kind);

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						   enum cudaChannelFormatKind kind)
{
	SIM_FRAME();
	return (struct cudaChannelFormatDesc){ x, y, z, w, kind };
}
