/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Byte offsets on x86-64 of the members that gpuprobe reads in the CUDA API's copy structures.
 * Source: cuda.h and driver_types.h of CUDA 13.0; unchanged since CUDA 4 (batch copies: since
 * 12.8). A unit test compares them with a compiler's offsetof.
 */
#ifndef GPUPROBE_COPY_PARAMS_H
#define GPUPROBE_COPY_PARAMS_H

/* CUDA_MEMCPY2D; CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER */
#define MEMCPY2D_SRC_TYPE 16
#define MEMCPY2D_DST_TYPE 72
#define MEMCPY_HOST_AFTER_TYPE 8 /* srcHost and dstHost, relative to the type of their side */
/* srcDevice and dstDevice, relative to the type; also the offset of unified addresses */
#define MEMCPY_DEVICE_AFTER_TYPE 16
#define MEMCPY2D_WIDTH 112 /* WidthInBytes, Height */
#define MEMCPY3D_SRC_TYPE 32
#define MEMCPY3D_DST_TYPE 120
#define MEMCPY3D_WIDTH 176 /* WidthInBytes, Height, Depth */

/* CUDA_MEMCPY2D_v1 and CUDA_MEMCPY3D_v1: sizes and device addresses are 32-bit */
#define MEMCPY2D_V1_SRC_TYPE 8
#define MEMCPY2D_V1_SRC_HOST 16
#define MEMCPY2D_V1_SRC_DEVICE 24
#define MEMCPY2D_V1_DST_TYPE 52
#define MEMCPY2D_V1_DST_HOST 56
#define MEMCPY2D_V1_DST_DEVICE 64
#define MEMCPY2D_V1_WIDTH 84 /* WidthInBytes, Height */
#define MEMCPY3D_V1_SRC_TYPE 16
#define MEMCPY3D_V1_SRC_HOST 24
#define MEMCPY3D_V1_SRC_DEVICE 32
#define MEMCPY3D_V1_DST_TYPE 80
#define MEMCPY3D_V1_DST_HOST 88
#define MEMCPY3D_V1_DST_DEVICE 96
#define MEMCPY3D_V1_WIDTH 128 /* WidthInBytes, Height, Depth */

/* cudaMemcpy3DParms; cudaMemcpy3DPeerParms differs after the source */
#define PARMS_SRC_ARRAY 0
#define PARMS_SRC_PTR 32
#define PARMS_DST_ARRAY 64
#define PARMS_DST_PTR 96
#define PARMS_EXTENT_AT 128
#define PARMS_KIND 152
#define PEER_DST_ARRAY 72
#define PEER_DST_PTR 104
#define PEER_EXTENT_AT 144

/* CUDA_MEMCPY3D_BATCH_OP, cudaMemcpy3DBatchOp: elements of an array */
#define BATCH_OP_SIZE 112
#define BATCH_OP_SRC_TYPE 0
#define BATCH_OP_DST_TYPE 40
/* address of an operand that is not an array, relative to its type */
#define BATCH_PTR_AFTER_TYPE 8
#define BATCH_OP_EXTENT_AT 80

#endif
