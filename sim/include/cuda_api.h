/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plain CUDA API for C: types, constants and functions of the driver and of the runtime, as far
 * as they are simulated. The binary interface is CUDA's: a program built with this header runs on
 * the real libraries, and one built with the real headers (HAVE_CUDA_HEADERS) on the simulated
 * ones.
 */
#ifndef CUDA_API_H
#define CUDA_API_H

#ifdef HAVE_CUDA_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cuda_profiler_api.h>
#include <cudaProfiler.h>
#else
#include "cuda_driver_types.h"
#include "cuda_runtime_types.h"
#include "cuda_driver_functions.h"
#include "cuda_graph_functions.h"
#include "cuda_resource_functions.h"
#include "cuda_v1_functions.h"
#include "cuda_runtime_functions.h"
#include "cuda_runtime_array_functions.h"
#include "cuda_runtime_graph_functions.h"
#include "cuda_runtime_version_functions.h"
#endif

#endif
