// SPDX-License-Identifier: BSD-2-Clause
/*
 * Occupancy queries, answered from the limits of the simulated device.
 */
#include "cuda/driver.h"

#define SM_THREADS 2048
#define SM_BLOCKS 32
#define SM_COUNT 132
#define SM_SHARED 233472u
#define BLOCK_SIZE 1024

static int active_blocks(int *out, CUfunction function, int block_size, size_t shared)
{
	int blocks;

	if (!kernel__get(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || block_size <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	blocks = SM_THREADS / block_size;
	if (blocks > SM_BLOCKS)
		blocks = SM_BLOCKS;
	if (shared && (size_t)blocks > SM_SHARED / shared)
		blocks = (int)(SM_SHARED / shared);
	*out = block_size > BLOCK_SIZE ? 0 : blocks;
	return CUDA_SUCCESS;
}

static int potential(int *grid, int *block, CUfunction function, int limit)
{
	if (!kernel__get(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid || !block)
		return CUDA_ERROR_INVALID_VALUE;
	*block = limit > 0 && limit < BLOCK_SIZE ? limit : BLOCK_SIZE;
	*grid = SM_COUNT * (SM_THREADS / *block);
	return CUDA_SUCCESS;
}

static int available_shared(size_t *out, CUfunction function, int blocks)
{
	if (!kernel__get(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || blocks <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	*out = SM_SHARED / (unsigned int)blocks;
	return CUDA_SUCCESS;
}

static int clusters(int *out, CUfunction function, const CUlaunchConfig *config, int value)
{
	if (!kernel__get(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || !config)
		return CUDA_ERROR_INVALID_VALUE;
	*out = value;
	return CUDA_SUCCESS;
}

DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, SIM_OTHER,
       (int *out, CUfunction function, int block_size, size_t shared), 0,
       active_blocks(out, function, block_size, shared));
DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, SIM_OTHER,
       (int *out, CUfunction function, int block_size, size_t shared, unsigned int flags), 0,
       ((void)flags, active_blocks(out, function, block_size, shared)));
DRIVER(cuOccupancyMaxPotentialBlockSize, SIM_OTHER,
       (int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of,
	size_t shared, int limit), 0,
       ((void)shared_of, (void)shared, potential(grid, block, function, limit)));
DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags, SIM_OTHER,
       (int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of,
	size_t shared, int limit, unsigned int flags), 0,
       ((void)shared_of, (void)shared, (void)flags, potential(grid, block, function, limit)));
DRIVER(cuOccupancyAvailableDynamicSMemPerBlock, SIM_OTHER,
       (size_t *out, CUfunction function, int blocks, int block_size), 0,
       ((void)block_size, available_shared(out, function, blocks)));
DRIVER(cuOccupancyMaxActiveClusters, SIM_OTHER,
       (int *out, CUfunction function, const CUlaunchConfig *config), 0,
       clusters(out, function, config, SM_COUNT));
DRIVER(cuOccupancyMaxPotentialClusterSize, SIM_OTHER,
       (int *out, CUfunction function, const CUlaunchConfig *config), 0,
       clusters(out, function, config, 8));
