// SPDX-License-Identifier: BSD-2-Clause
/* Queries and settings of a kernel, by either of its handles. */
#include "cuda/driver.h"

static int get_name(const char **out, const void *handle)
{
	struct kernel *kernel = kernel__get(handle);

	if (!out || !kernel)
		return kernel ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = kernel->name;
	return CUDA_SUCCESS;
}

static int get_image(void **out, const void *handle)
{
	struct kernel *kernel = kernel__get(handle);

	if (!out || !kernel)
		return kernel ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = kernel->image;
	return CUDA_SUCCESS;
}

static int get_attribute(int *out, CUfunction_attribute attribute, const void *handle)
{
	struct kernel *kernel = kernel__get(handle);

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || (int)attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*out = kernel->attributes[attribute];
	return CUDA_SUCCESS;
}

static int set_attribute(const void *handle, CUfunction_attribute attribute, int value)
{
	struct kernel *kernel = kernel__get(handle);

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if (attribute < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
	    attribute >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	kernel->attributes[attribute] = value;
	return CUDA_SUCCESS;
}

static int exists(const void *handle)
{
	return kernel__get(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static int is_loaded(CUfunctionLoadingState *out, const void *handle)
{
	if (out)
		*out = CU_FUNCTION_LOADING_STATE_LOADED;
	return exists(handle);
}

DRIVER_PLAIN(cuKernelGetName, (const char **out, CUkernel kernel), get_name(out, kernel));
DRIVER_PLAIN(cuKernelGetLibrary, (CUlibrary *out, CUkernel kernel),
	     get_image((void **)out, kernel));
DRIVER_PLAIN(cuKernelGetAttribute, (int *out, CUfunction_attribute attribute, CUkernel kernel,
				    CUdevice device),
	     ((void)device, get_attribute(out, attribute, kernel)));
DRIVER_PLAIN(cuKernelSetAttribute, (CUfunction_attribute attribute, int value, CUkernel kernel,
				    CUdevice device),
	     ((void)device, set_attribute(kernel, attribute, value)));
DRIVER_PLAIN(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice device),
	     ((void)config, (void)device, exists(kernel)));

DRIVER_PLAIN(cuFuncGetName, (const char **out, CUfunction function), get_name(out, function));
DRIVER_PLAIN(cuFuncGetModule, (CUmodule *out, CUfunction function),
	     get_image((void **)out, function));
DRIVER_PLAIN(cuFuncIsLoaded, (CUfunctionLoadingState *out, CUfunction function),
	     is_loaded(out, function));
DRIVER_PLAIN(cuFuncLoad, (CUfunction function), exists(function));
DRIVER(cuFuncGetAttribute, SIM_OTHER, (int *out, CUfunction_attribute attribute,
				       CUfunction function), 0,
       get_attribute(out, attribute, function));
DRIVER(cuFuncSetAttribute, SIM_OTHER, (CUfunction function, CUfunction_attribute attribute,
				       int value), 0,
       set_attribute(function, attribute, value));
DRIVER(cuFuncSetCacheConfig, SIM_OTHER, (CUfunction function, CUfunc_cache config), 0,
       ((void)config, exists(function)));
DRIVER(cuFuncSetSharedMemConfig, SIM_OTHER, (CUfunction function, CUsharedconfig config), 0,
       ((void)config, exists(function)));

/* The parameters of kernels are unknown: each kernel has one of 8 bytes. */
static int param_info(const void *handle, size_t index, size_t *offset, size_t *size)
{
	if (!kernel__get(handle))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!offset || index)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 0;
	if (size)
		*size = 8;
	return CUDA_SUCCESS;
}

DRIVER_PLAIN(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t *offset,
				  size_t *size),
	     param_info(function, index, offset, size));
DRIVER_PLAIN(cuKernelGetParamInfo, (CUkernel kernel, size_t index, size_t *offset, size_t *size),
	     param_info(kernel, index, offset, size));
