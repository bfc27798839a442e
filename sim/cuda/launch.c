// SPDX-License-Identifier: BSD-2-Clause
/*
 * Launches. A kernel does nothing; what counts is that the call is checked as
 * the real driver checks it, and is cheap.
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
	stream__issue(stream);
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
