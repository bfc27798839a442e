/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files about arrays, copies and graphs: converts the runtime's descriptions of
 * copies to the driver's.
 */
#ifndef SIM_CUDART_ARRAY_H
#define SIM_CUDART_ARRAY_H

#include "cudart/runtime.h"

/* The size of an array's elements in bytes, 0 if it is no array. */
size_t array__element(cudaArray_const_t array);

/* copy.c: the memory type that a kind implies for the source or the destination. */
CUmemorytype copy__type(enum cudaMemcpyKind kind, bool destination);
enum sim_copy_kind copy__kind(enum cudaMemcpyKind kind);
/* Converts a copy to the driver's form: returns 0 or an error. */
int copy__volume(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *out);
/* A copy of one row. */
CUDA_MEMCPY3D copy__row(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
/* The address of a part of a registered variable. */
int copy__symbol_part(const void *symbol, size_t size, size_t offset, void **out);

#endif
