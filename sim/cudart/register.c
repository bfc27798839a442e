// SPDX-License-Identifier: BSD-2-Clause
/*
 * What programs built by nvcc register before main: their code, and which host function or variable
 * represents which one of the device. A fat binary is passed to the driver when something in it is
 * first used.
 */
#include "cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>

#include <uthash.h>

#define WRAPPER_MAGIC 0x466243b1

/* nvcc's wrapper of the code. */
struct wrapper {
	uint32_t magic;
	uint32_t version;
	const void *code;
	void *reserved;
};

struct fat_binary {
	const void *code;
	CUlibrary library;
};

/* A host function or host variable and the device's name for it. */
struct entry {
	const void *host;
	const char *name;
	uint32_t name_id;
	size_t size;
	struct fat_binary *binary;
	CUkernel kernel;
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock;
	struct entry *entries;
} registered = { .lock = PTHREAD_MUTEX_INITIALIZER };

RUNTIME_EXPORT void **__cudaRegisterFatBinary(void *wrapper);
RUNTIME_EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
RUNTIME_EXPORT void __cudaUnregisterFatBinary(void **handle);
RUNTIME_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device,
					   const char *name, int thread_limit, uint3 *thread,
					   uint3 *block_index, dim3 *block, dim3 *grid, int *warp);
RUNTIME_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
				      int external, size_t size, int constant, int global);
RUNTIME_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device,
					     const char *name, int external, size_t size,
					     int constant, int global);
RUNTIME_EXPORT char __cudaInitModule(void **handle);
RUNTIME_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);

void **__cudaRegisterFatBinary(void *argument)
{
	const struct wrapper *wrapper = argument;
	struct fat_binary *binary = calloc(1, sizeof(*binary));

	SIM_FRAME();
	if (binary)
		binary->code = wrapper->magic == WRAPPER_MAGIC ? wrapper->code : argument;
	return (void **)binary;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	SIM_FRAME();
	(void)handle;
}

char __cudaInitModule(void **handle)
{
	SIM_FRAME();
	return handle != NULL;
}

void __cudaUnregisterFatBinary(void **handle)
{
	struct fat_binary *binary = (void *)handle;
	struct entry *entry, *next;

	SIM_FRAME();
	pthread_mutex_lock(&registered.lock);
	HASH_ITER(hh, registered.entries, entry, next) {
		if (entry->binary == binary) {
			HASH_DEL(registered.entries, entry);
			free(entry);
		}
	}
	pthread_mutex_unlock(&registered.lock);
	free(binary);
}

static void add(void **handle, const void *host, const char *name, size_t size)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return;
	entry->host = host;
	entry->name = name;
	entry->size = size;
	entry->binary = (void *)handle;
	pthread_mutex_lock(&registered.lock);
	HASH_ADD_PTR(registered.entries, host, entry);
	pthread_mutex_unlock(&registered.lock);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, uint3 *thread, uint3 *block_index, dim3 *block,
			    dim3 *grid, int *warp)
{
	SIM_FRAME();
	(void)device, (void)thread_limit, (void)thread, (void)block_index, (void)block, (void)grid;
	(void)warp;
	add(handle, host, name, 0);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
		       size_t size, int constant, int global)
{
	SIM_FRAME();
	(void)device, (void)external, (void)constant, (void)global;
	add(handle, host, name, size);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
			      int external, size_t size, int constant, int global)
{
	SIM_FRAME();
	(void)device, (void)external, (void)constant, (void)global;
	add(handle, host, name, size);
}

/* Loads the library of an entry's code if necessary. The lock is held. */
static int load(struct fat_binary *binary)
{
	if (binary->library)
		return cudaSuccess;
	return (int)D.cuLibraryLoadData(&binary->library, binary->code, NULL, NULL, 0, NULL, NULL,
					0);
}

static struct entry *find(const void *host)
{
	struct entry *entry;

	HASH_FIND_PTR(registered.entries, &host, entry);
	return entry;
}

uint32_t kernel__name_id(const void *function)
{
	uint32_t id = runtime.recorder->kernel_of(function);
	struct entry *entry;

	if (id != SIM_NO_KERNEL)
		return id;
	pthread_mutex_lock(&registered.lock);
	entry = find(function);
	if (entry && entry->name_id == SIM_NO_KERNEL)
		entry->name_id = runtime.recorder->intern(entry->name);
	id = entry ? entry->name_id : SIM_NO_KERNEL;
	pthread_mutex_unlock(&registered.lock);
	return id;
}

int kernel__resolve(const void *function, CUkernel *out)
{
	int result = cudaErrorInvalidDeviceFunction;
	struct entry *entry;

	if (runtime.recorder->kernel_of(function) != SIM_NO_KERNEL) {
		*out = (CUkernel)function;
		return cudaSuccess;
	}
	pthread_mutex_lock(&registered.lock);
	entry = find(function);
	if (entry && entry->kernel) {
		result = cudaSuccess;
	} else if (entry) {
		result = load(entry->binary);
		if (!result)
			result = (int)D.cuLibraryGetKernel(&entry->kernel, entry->binary->library,
							   entry->name);
	}
	if (!result)
		*out = entry->kernel;
	pthread_mutex_unlock(&registered.lock);
	return result;
}

int variable__resolve(const void *symbol, CUdeviceptr *address, size_t *size)
{
	int result = cudaErrorInvalidSymbol;
	struct entry *entry;

	pthread_mutex_lock(&registered.lock);
	entry = find(symbol);
	if (entry) {
		result = load(entry->binary);
		if (!result)
			result = (int)D.cuLibraryGetGlobal(address, NULL, entry->binary->library,
							   entry->name);
		*size = entry->size;
	}
	pthread_mutex_unlock(&registered.lock);
	return result;
}

static int get_kernel(cudaKernel_t *out, const void *host)
{
	return out ? kernel__resolve(host, out) : (int)cudaErrorInvalidValue;
}

static int get_function(cudaFunction_t *out, const void *host)
{
	CUkernel kernel;
	int result = kernel__resolve(host, &kernel);

	return result ? result : (int)D.cuKernelGetFunction(out, kernel);
}

static int symbol_address(void **out, const void *symbol)
{
	CUdeviceptr address;
	size_t size;
	int result = variable__resolve(symbol, &address, &size);

	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int symbol_size(size_t *out, const void *symbol)
{
	CUdeviceptr address;

	return variable__resolve(symbol, &address, out);
}

static int function_attributes(struct cudaFuncAttributes *out, const void *function)
{
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	if (result)
		return result;
	*out = (struct cudaFuncAttributes){
		.maxThreadsPerBlock = 1024, .numRegs = 32, .ptxVersion = 90, .binaryVersion = 90,
	};
	return (int)D.cuKernelGetAttribute(&out->maxDynamicSharedSizeBytes,
					   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					   kernel, runtime_thread.device);
}

static int set_attribute(const void *function, int attribute, int value, int device)
{
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	if (result)
		return result;
	return (int)D.cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device);
}

static int function_name(const char **out, const void *function)
{
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	return result ? result : (int)D.cuKernelGetName(out, kernel);
}

static int exists(const void *function)
{
	CUkernel kernel;

	return kernel__resolve(function, &kernel);
}

RUNTIME(__cudaGetKernel, SIM_OTHER, (cudaKernel_t *out, const void *host), 0,
	get_kernel(out, host));
RUNTIME(cudaGetKernel, SIM_OTHER, (cudaKernel_t *out, const void *host), 0,
	get_kernel(out, host));
RUNTIME(cudaGetFuncBySymbol, SIM_OTHER, (cudaFunction_t *out, const void *host), 0,
	get_function(out, host));
RUNTIME(cudaGetSymbolAddress, SIM_OTHER, (void **out, const void *symbol), 0,
	symbol_address(out, symbol));
RUNTIME(cudaGetSymbolSize, SIM_OTHER, (size_t *out, const void *symbol), 0,
	symbol_size(out, symbol));
RUNTIME(cudaFuncGetAttributes, SIM_OTHER, (struct cudaFuncAttributes *out,
					   const void *function), 0,
	function_attributes(out, function));
RUNTIME(cudaFuncSetAttribute, SIM_OTHER, (const void *function, enum cudaFuncAttribute attribute,
					  int value), 0,
	set_attribute(function, (int)attribute, value, runtime_thread.device));
RUNTIME(cudaKernelSetAttributeForDevice, SIM_OTHER, (cudaKernel_t kernel,
						     enum cudaFuncAttribute attribute,
						     int value, int device), 0,
	set_attribute(kernel, (int)attribute, value, device));
RUNTIME(cudaFuncGetName, SIM_OTHER, (const char **out, const void *function), 0,
	function_name(out, function));
RUNTIME(cudaFuncSetCacheConfig, SIM_OTHER, (const void *function, enum cudaFuncCache config), 0,
	((void)config, exists(function)));
RUNTIME(cudaFuncSetSharedMemConfig, SIM_OTHER, (const void *function,
						enum cudaSharedMemConfig config), 0,
	((void)config, exists(function)));

static int param_info(const void *function, size_t index, size_t *offset, size_t *size)
{
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	return result ? result : (int)D.cuKernelGetParamInfo(kernel, index, offset, size);
}

RUNTIME(cudaFuncGetParamInfo, SIM_OTHER, (const void *function, size_t index, size_t *offset,
					  size_t *size), 0,
	param_info(function, index, offset, size));
