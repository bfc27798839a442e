// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launches. A kernel does nothing; the call must be checked as the real driver checks it, and be
 * cheap.
 */
#include "cuda/graph.h"

#define MAX_BLOCK_THREADS 1024u

int launch__check(const unsigned int *grid, const unsigned int *block)
{
	if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2])
		return CUDA_ERROR_INVALID_VALUE;
	if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 ||
	    block[0] * block[1] * block[2] > MAX_BLOCK_THREADS)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static SIM_COLD int capture(struct sim_call *call, struct CUstream_st *stream,
			    CUfunction function, const unsigned int *grid,
			    const unsigned int *block)
{
	struct CUgraphNode_st *node = capture__add(stream, CU_GRAPH_NODE_TYPE_KERNEL);

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->kernel = (CUDA_KERNEL_NODE_PARAMS){
		.func = function, .gridDimX = grid[0], .gridDimY = grid[1], .gridDimZ = grid[2],
		.blockDimX = block[0], .blockDimY = block[1], .blockDimZ = block[2],
	};
	call->captured = true;
	return CUDA_SUCCESS;
}

static int launch(struct sim_call *call, CUfunction function, const unsigned int *grid,
		  const unsigned int *block, CUstream handle)
{
	struct CUstream_st *stream;
	int result;

	if (sim_unlikely(call->kernel == SIM_NO_KERNEL))
		return CUDA_ERROR_INVALID_HANDLE;
	stream = stream__get(call, handle);
	if (sim_unlikely(!stream))
		return CUDA_ERROR_INVALID_HANDLE;
	result = launch__check(grid, block);
	if (sim_unlikely(result))
		return result;
	if (sim_unlikely(stream__capture(stream)))
		return capture(call, stream, function, grid, block);
	stream__issue(stream, WORK_KERNEL, call->kernel);
	return CUDA_SUCCESS;
}

static int launch_configured(struct sim_call *call, const CUlaunchConfig *config,
			     CUfunction function)
{
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	return launch(call, function, &config->gridDimX, &config->blockDimX, config->hStream);
}

#define DIMENSIONS unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,	\
		   unsigned int block_x, unsigned int block_y, unsigned int block_z
#define GRID ((const unsigned int[]){ grid_x, grid_y, grid_z })
#define BLOCK ((const unsigned int[]){ block_x, block_y, block_z })

DRIVER_LAUNCH(cuLaunchKernel, (CUfunction function, DIMENSIONS, unsigned int shared,
			       CUstream stream, void **params, void **extra), function,
	      ((void)shared, (void)params, (void)extra,
	       launch(&call, function, GRID, BLOCK, stream)));
DRIVER_LAUNCH(cuLaunchCooperativeKernel, (CUfunction function, DIMENSIONS, unsigned int shared,
					  CUstream stream, void **params), function,
	      ((void)shared, (void)params, launch(&call, function, GRID, BLOCK, stream)));
DRIVER_LAUNCH(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function,
				 void **params, void **extra), function,
	      ((void)params, (void)extra, launch_configured(&call, config, function)));

/* Before CUDA 4 a function stored the shape of its blocks. */
static int set_shape(CUfunction function, int x, int y, int z)
{
	struct kernel *kernel = kernel__get(function);

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if (x <= 0 || y <= 0 || z <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	kernel->block[0] = (unsigned int)x;
	kernel->block[1] = (unsigned int)y;
	kernel->block[2] = (unsigned int)z;
	return CUDA_SUCCESS;
}

static int launch_shaped(struct sim_call *call, CUfunction function, int width, int height,
			 CUstream stream)
{
	const unsigned int grid[] = { (unsigned int)width, (unsigned int)height, 1 };
	const struct kernel *kernel = kernel__get(function);

	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	return launch(call, function, grid, kernel->block, stream);
}

static int exists(CUfunction function)
{
	return kernel__get(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

DRIVER(cuFuncSetBlockShape, SIM_OTHER, (CUfunction function, int x, int y, int z), 0,
       set_shape(function, x, y, z));
DRIVER(cuFuncSetSharedSize, SIM_OTHER, (CUfunction function, unsigned int size), 0,
       ((void)size, exists(function)));
DRIVER(cuParamSetSize, SIM_OTHER, (CUfunction function, unsigned int size), 0,
       ((void)size, exists(function)));
DRIVER(cuParamSeti, SIM_OTHER, (CUfunction function, int offset, unsigned int value), 0,
       ((void)offset, (void)value, exists(function)));
DRIVER(cuParamSetf, SIM_OTHER, (CUfunction function, int offset, float value), 0,
       ((void)offset, (void)value, exists(function)));
DRIVER(cuParamSetv, SIM_OTHER, (CUfunction function, int offset, void *value,
				unsigned int size), 0,
       ((void)offset, (void)value, (void)size, exists(function)));
DRIVER_LAUNCH_FORM(cuLaunch, (CUfunction function), function, false,
		   launch_shaped(&call, function, 1, 1, NULL));
DRIVER_LAUNCH_FORM(cuLaunchGrid, (CUfunction function, int width, int height), function, false,
		   launch_shaped(&call, function, width, height, NULL));
DRIVER_LAUNCH_FORM(cuLaunchGridAsync, (CUfunction function, int width, int height,
				       CUstream stream), function, false,
		   launch_shaped(&call, function, width, height, stream));

/* One launch per device, each counted for its kernel and its stream's device. */
static int launch_many(struct sim_call *call, const CUDA_LAUNCH_PARAMS *params,
		       unsigned int count)
{
	int result = params && count && count <= (unsigned int)driver.nr_devices ?
		     CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (unsigned int i = 0; !result && i < count; i++) {
		const CUDA_LAUNCH_PARAMS *one = &params[i];

		call->kernel = kernel__name_id(one->function);
		result = launch(call, one->function, &one->gridDimX, &one->blockDimX,
				one->hStream);
		sim_count_launch(call, SIM_DRIVER, result);
		driver__count_launch(call, result);
	}
	return result;
}

DRIVER(cuLaunchCooperativeKernelMultiDevice, SIM_LAUNCH, (CUDA_LAUNCH_PARAMS *params,
							  unsigned int count,
							  unsigned int flags), 0,
       ((void)flags, launch_many(&call, params, count)));
