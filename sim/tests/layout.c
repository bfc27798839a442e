// SPDX-License-Identifier: BSD-2-Clause
/*
 * The layout of the structures that programs and the libraries exchange, checked at compile time.
 */
#include "cuda_api.h"

#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define AT(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member)

SIZE(CUlaunchConfig, 56);
AT(CUlaunchConfig, hStream, 32);
AT(CUlaunchConfig, attrs, 40);
AT(CUlaunchConfig, numAttrs, 48);
SIZE(cudaLaunchConfig_t, 56);
AT(cudaLaunchConfig_t, blockDim, 12);
AT(cudaLaunchConfig_t, dynamicSmemBytes, 24);
AT(cudaLaunchConfig_t, stream, 32);
SIZE(dim3, 12);
SIZE(struct cudaExtent, 24);
SIZE(struct cudaPitchedPtr, 32);
SIZE(struct cudaMemcpy3DParms, 160);
AT(struct cudaMemcpy3DParms, srcPtr, 32);
AT(struct cudaMemcpy3DParms, dstArray, 64);
AT(struct cudaMemcpy3DParms, dstPtr, 96);
AT(struct cudaMemcpy3DParms, extent, 128);
AT(struct cudaMemcpy3DParms, kind, 152);
SIZE(CUDA_MEMCPY2D, 128);
AT(CUDA_MEMCPY2D, srcMemoryType, 16);
AT(CUDA_MEMCPY2D, dstMemoryType, 72);
AT(CUDA_MEMCPY2D, WidthInBytes, 112);
SIZE(CUDA_MEMCPY3D, 200);
AT(CUDA_MEMCPY3D, srcMemoryType, 32);
AT(CUDA_MEMCPY3D, dstMemoryType, 120);
AT(CUDA_MEMCPY3D, WidthInBytes, 176);
SIZE(CUDA_MEMCPY3D_PEER, 200);
SIZE(CUDA_ARRAY_DESCRIPTOR, 24);
SIZE(CUDA_ARRAY3D_DESCRIPTOR, 40);
SIZE(CUmemAllocationProp, 32);
AT(CUmemAllocationProp, location, 8);
SIZE(CUmemPoolProps, 88);
SIZE(struct cudaMemPoolProps, 88);
SIZE(CUmemLocation, 8);
SIZE(struct cudaMemLocation, 8);
SIZE(CUDA_KERNEL_NODE_PARAMS, 72);
AT(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes, 32);
SIZE(struct cudaKernelNodeParams, 56);
AT(struct cudaKernelNodeParams, blockDim, 20);
SIZE(struct cudaDeviceProp, 1008);
AT(struct cudaDeviceProp, uuid, 256);
AT(struct cudaDeviceProp, totalGlobalMem, 288);
AT(struct cudaDeviceProp, major, 360);
AT(struct cudaDeviceProp, multiProcessorCount, 384);
AT(struct cudaDeviceProp, pciBusID, 568);
AT(struct cudaDeviceProp, pciDomainID, 576);
SIZE(struct cudaPointerAttributes, 88);
AT(struct cudaPointerAttributes, device, 4);
SIZE(CUipcMemHandle, 64);
SIZE(cudaIpcMemHandle_t, 64);
SIZE(CUuuid, 16);
SIZE(CUDA_MEMCPY3D_BATCH_OP, 112);
AT(CUDA_MEMCPY3D_BATCH_OP, extent, 80);
SIZE(CUDA_LAUNCH_PARAMS, 56);
AT(CUDA_LAUNCH_PARAMS, blockDimX, 20);
AT(CUDA_LAUNCH_PARAMS, hStream, 40);
SIZE(CUDA_MEM_ALLOC_NODE_PARAMS, 120);
AT(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize, 104);
AT(CUDA_MEM_ALLOC_NODE_PARAMS, dptr, 112);
SIZE(CUgraphNodeParams, 256);
SIZE(CUdevResource, 144);
SIZE(CUDA_MEMCPY2D_v1, 96);
SIZE(CUDA_ARRAY_DESCRIPTOR_v1, 16);
SIZE(CUDA_ARRAY3D_DESCRIPTOR_v1, 24);
SIZE(CUDA_KERNEL_NODE_PARAMS_v1, 56);
SIZE(struct cudaMemcpy3DPeerParms, 168);
AT(struct cudaMemcpy3DPeerParms, srcDevice, 64);
AT(struct cudaMemcpy3DPeerParms, dstDevice, 136);
AT(struct cudaMemcpy3DPeerParms, extent, 144);
SIZE(struct cudaMemcpy3DBatchOp, 112);
AT(struct cudaMemcpy3DBatchOp, extent, 80);
SIZE(struct cudaMemAllocNodeParams, 120);
AT(struct cudaMemAllocNodeParams, bytesize, 104);
AT(struct cudaMemAllocNodeParams, dptr, 112);
SIZE(struct cudaGraphNodeParams, 256);
