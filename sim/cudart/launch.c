// SPDX-License-Identifier: BSD-2-Clause
/* Launches: converts the function to a handle and passes it to the driver. */
#include "cudart/runtime.h"

#include <string.h>

#define MAX_CONFIGURATIONS 16

static int launch(const struct sim_call *on, const void *function, dim3 grid, dim3 block,
		  void **params, size_t shared, cudaStream_t stream)
{
	struct sim_call call = *on;
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	if (result)
		return result;
	return (int)D_PTSZ(cuLaunchKernel)((CUfunction)kernel, grid.x, grid.y, grid.z, block.x,
					   block.y, block.z, (unsigned int)shared, stream, params,
					   NULL);
}

static int launch_cooperative(const struct sim_call *on, const void *function, dim3 grid,
			      dim3 block, void **params, size_t shared, cudaStream_t stream)
{
	struct sim_call call = *on;
	CUkernel kernel;
	int result = kernel__resolve(function, &kernel);

	if (result)
		return result;
	return (int)D_PTSZ(cuLaunchCooperativeKernel)((CUfunction)kernel, grid.x, grid.y, grid.z,
						      block.x, block.y, block.z,
						      (unsigned int)shared, stream, params);
}

static int launch_configured(const struct sim_call *on, const cudaLaunchConfig_t *config,
			     const void *function, void **params)
{
	struct sim_call call = *on;
	CUlaunchConfig driver_config;
	CUkernel kernel;
	int result;

	if (!config)
		return cudaErrorInvalidValue;
	result = kernel__resolve(function, &kernel);
	if (result)
		return result;
	driver_config = (CUlaunchConfig){
		.gridDimX = config->gridDim.x, .gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z, .blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y, .blockDimZ = config->blockDim.z,
		.sharedMemBytes = (unsigned int)config->dynamicSmemBytes,
		.hStream = config->stream, .attrs = (CUlaunchAttribute *)config->attrs,
		.numAttrs = config->numAttrs,
	};
	return (int)D_PTSZ(cuLaunchKernelEx)(&driver_config, (CUfunction)kernel, params, NULL);
}

RUNTIME_LAUNCH(cudaLaunchKernel, (const void *function, dim3 grid, dim3 block, void **params,
				  size_t shared, cudaStream_t stream), function,
	       launch(&call, function, grid, block, params, shared, stream));
RUNTIME_LAUNCH(cudaLaunchCooperativeKernel, (const void *function, dim3 grid, dim3 block,
					     void **params, size_t shared, cudaStream_t stream),
	       function,
	       launch_cooperative(&call, function, grid, block, params, shared, stream));
RUNTIME_LAUNCH(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *function,
				     void **params), function,
	       launch_configured(&call, config, function, params));

#if CUDART_VERSION < 13000
#define MAX_LAUNCHES 16

static int launch_many(const struct cudaLaunchParams *params, unsigned int count,
		       unsigned int flags)
{
	CUDA_LAUNCH_PARAMS many[MAX_LAUNCHES];
	CUkernel kernel;
	int result;

	if (!params || !count || count > MAX_LAUNCHES)
		return cudaErrorInvalidValue;
	for (unsigned int i = 0; i < count; i++) {
		const struct cudaLaunchParams *one = &params[i];

		result = kernel__resolve(one->func, &kernel);
		if (result)
			return result;
		many[i] = (CUDA_LAUNCH_PARAMS){
			.function = (CUfunction)kernel, .gridDimX = one->gridDim.x,
			.gridDimY = one->gridDim.y, .gridDimZ = one->gridDim.z,
			.blockDimX = one->blockDim.x, .blockDimY = one->blockDim.y,
			.blockDimZ = one->blockDim.z,
			.sharedMemBytes = (unsigned int)one->sharedMem,
			.hStream = one->stream, .kernelParams = one->args,
		};
	}
	return (int)D.cuLaunchCooperativeKernelMultiDevice(many, count, flags);
}

RUNTIME(cudaLaunchCooperativeKernelMultiDevice, SIM_LAUNCH, (struct cudaLaunchParams *params,
							     unsigned int count,
							     unsigned int flags), 0,
	launch_many(params, count, flags));
#endif

/*
 * The function behind nvcc's <<<>>>. As in the real library, it jumps to the public function with
 * the caller's stack pointer, and is not a call of its own.
 */
#ifdef SIM_STATIC
#define JUMP_SCOPE(name) ".hidden " name "\n"
#else
#define JUMP_SCOPE(name) ""
#endif
#define JUMP(name, target)								\
	__asm__(".pushsection .text\n"							\
		".globl " name "\n"							\
		JUMP_SCOPE(name)							\
		".type " name ", @function\n"						\
		name ":\n"								\
		"	push %rbp\n"							\
		"	mov %rsp, %rbp\n"						\
		"	pop %rbp\n"							\
		"	jmp " target "@PLT\n"						\
		".size " name ", . - " name "\n"					\
		".popsection\n")

JUMP("__cudaLaunchKernel", "cudaLaunchKernel");
JUMP("__cudaLaunchKernel_ptsz", "cudaLaunchKernel_ptsz");

/* The configuration in <<<>>> for code from older compilers. */
static __thread struct {
	unsigned int depth;
	struct {
		dim3 grid;
		dim3 block;
		size_t shared;
		cudaStream_t stream;
	} stack[MAX_CONFIGURATIONS];
} configurations;

RUNTIME_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
							 cudaStream_t stream);
RUNTIME_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
						      void *stream);

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
	SIM_FRAME();
	if (configurations.depth == MAX_CONFIGURATIONS)
		return cudaErrorMissingConfiguration;
	configurations.stack[configurations.depth].grid = grid;
	configurations.stack[configurations.depth].block = block;
	configurations.stack[configurations.depth].shared = shared;
	configurations.stack[configurations.depth].stream = stream;
	configurations.depth++;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	SIM_FRAME();
	if (!configurations.depth)
		return cudaErrorMissingConfiguration;
	configurations.depth--;
	*grid = configurations.stack[configurations.depth].grid;
	*block = configurations.stack[configurations.depth].block;
	*shared = configurations.stack[configurations.depth].shared;
	memcpy(stream, &configurations.stack[configurations.depth].stream, sizeof(cudaStream_t));
	return cudaSuccess;
}
